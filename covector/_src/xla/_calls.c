/* The path of repeated calls in C: `RepeatedCalls` and `op_again` of calls.py, where their story is.

   Both read the types and buffers of their arguments, look a tuple of these types up in a table,
   and run the `Call` they find.  The slots of arrays and of `Call` are read and written where they
   lie in the objects, by the offsets that their descriptors tell.

   Functions return a new reference, or NULL with an exception set, as usual. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#ifdef Py_GIL_DISABLED
#error "slots are read without locks, which needs Python's global one"
#endif

/* ------------------------------------------------------------------------- slots */

static PyTypeObject *array_type;
static PyObject *context, *eval_trace, *watch, *trace_key;
static PyObject *flatten, *leaves_of, *drop_own_frames;
static PyObject *name_text, *trace_text, *ever_on_text, *consume_text, *call_text;

static struct { Py_ssize_t buffer, aval, placement, host; } array;
static struct {
    Py_ssize_t execute, kept, consts, handlers, out_avals, placement, make, failed;
} call;

/* Borrowed; NULL if the slot is empty. */
static inline PyObject *get(PyObject *object, Py_ssize_t offset)
{
    return *(PyObject **)((char *)object + offset);
}

/* Fills a slot of an object that has just been made. */
static inline void fill(PyObject *object, Py_ssize_t offset, PyObject *value)
{
    *(PyObject **)((char *)object + offset) = Py_NewRef(value);
}

static int find_offset(PyTypeObject *type, const char *name, Py_ssize_t *offset)
{
    PyObject *descriptor = PyObject_GetAttrString((PyObject *)type, name);
    if (descriptor == NULL)
        return -1;
    if (!Py_IS_TYPE(descriptor, &PyMemberDescr_Type)) {
        PyErr_Format(PyExc_TypeError, "%s.%s is no slot", type->tp_name, name);
        Py_DECREF(descriptor);
        return -1;
    }
    *offset = ((PyMemberDescrObject *)descriptor)->d_member->offset;
    Py_DECREF(descriptor);
    return 0;
}

/* ------------------------------------------------------------------------- keys */

/* Adds the type of an array to a key, and its buffer to the list of them. */
static int read_array(PyObject *x, PyObject *key, Py_ssize_t place, PyObject *buffers,
                      Py_ssize_t index)
{
    PyObject *aval = get(x, array.aval), *placement = get(x, array.placement);
    PyObject *type = placement == Py_None ? Py_NewRef(aval) : PyTuple_Pack(2, aval, placement);
    if (type == NULL)
        return -1;
    PyTuple_SET_ITEM(key, place, type);
    PyList_SET_ITEM(buffers, index, Py_NewRef(get(x, array.buffer)));
    return 0;
}

/* A key with these first parts and the types of arrays, and the arrays' buffers. */
static PyObject *read_arrays(PyObject *first, PyObject *second, PyObject *const *arrays,
                             Py_ssize_t count, PyObject **buffers)
{
    Py_ssize_t start = second == NULL ? 1 : 2;
    PyObject *key = PyTuple_New(start + count);
    *buffers = PyList_New(count);
    if (key == NULL || *buffers == NULL)
        goto failed;
    PyTuple_SET_ITEM(key, 0, Py_NewRef(first));
    if (second != NULL)
        PyTuple_SET_ITEM(key, 1, Py_NewRef(second));
    for (Py_ssize_t i = 0; i < count; i++)
        if (read_array(arrays[i], key, start + i, *buffers, i) < 0)
            goto failed;
    return key;
failed:
    Py_XDECREF(key);
    Py_CLEAR(*buffers);
    return NULL;
}

static int all_arrays(PyObject *const *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!Py_IS_TYPE(items[i], array_type))
            return 0;
    return 1;
}

/* ------------------------------------------------------------------------- running */

static PyObject *new_array(PyObject *buffer, PyObject *aval, PyObject *placement)
{
    PyObject *x = array_type->tp_alloc(array_type, 0);
    if (x != NULL) {
        fill(x, array.buffer, buffer);
        fill(x, array.aval, aval);
        fill(x, array.placement, placement);
        fill(x, array.host, Py_None);
    }
    return x;
}

/* The buffers that a program takes, of those of all arguments: itself, if it takes all. */
static PyObject *taken(PyObject *self, PyObject *buffers)
{
    PyObject *kept = get(self, call.kept), *consts = get(self, call.consts);
    if (kept == Py_None)
        return Py_NewRef(buffers);
    Py_ssize_t count = PyList_GET_SIZE(kept), extra = PyList_GET_SIZE(consts);
    PyObject *chosen = PyList_New(count + extra);
    if (chosen == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t index = PyLong_AsSsize_t(PyList_GET_ITEM(kept, i));
        PyList_SET_ITEM(chosen, i, Py_NewRef(PyList_GET_ITEM(buffers, index)));
    }
    for (Py_ssize_t i = 0; i < extra; i++)
        PyList_SET_ITEM(chosen, count + i, Py_NewRef(PyList_GET_ITEM(consts, i)));
    return chosen;
}

/* The exception that is set, which then is no longer. */
static PyObject *raised(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return error;
#endif
}

/* Turns the exception that is set into what the user should see. */
static void explain(PyObject *self, PyObject *buffers)
{
    PyObject *arguments[] = {raised(), buffers};
    Py_XDECREF(PyObject_Vectorcall(get(self, call.failed), arguments, 2, NULL));
    Py_DECREF(arguments[0]);
}

/* The program's outputs, as jaxlib's buffers. */
static PyObject *execute(PyObject *self, PyObject *buffers)
{
    PyObject *arguments = taken(self, buffers), *outs = NULL;
    if (arguments == NULL)
        return NULL;
    PyObject *results = PyObject_CallOneArg(get(self, call.execute), arguments);
    if (results != NULL) {
        outs = PyObject_CallMethodOneArg(results, consume_text, get(self, call.handlers));
        Py_DECREF(results);
    }
    if (outs == NULL)
        explain(self, arguments);
    Py_DECREF(arguments);
    return outs;
}

/* `Call.__call__`, which takes the buffers away from its caller. */
static PyObject *run(PyObject *self, PyObject *buffers)
{
    PyObject *outs = execute(self, buffers), *result = NULL;
    Py_DECREF(buffers);
    if (outs == NULL)
        return NULL;
    PyObject *avals = get(self, call.out_avals), *placement = get(self, call.placement);
    PyObject *make = get(self, call.make);
    Py_ssize_t count = PyTuple_GET_SIZE(avals);
    if (!PyList_Check(outs) || PyList_GET_SIZE(outs) != count) {
        PyErr_Format(PyExc_SystemError, "XLA gave other outputs than %zd arrays", count);
    } else if (make == Py_None) {
        result = new_array(PyList_GET_ITEM(outs, 0), PyTuple_GET_ITEM(avals, 0), placement);
    } else { /* each buffer makes room for its array: the list is nobody else's */
        for (Py_ssize_t i = 0; i < count; i++) {
            PyObject *buffer = PyList_GET_ITEM(outs, i);
            PyObject *x = new_array(buffer, PyTuple_GET_ITEM(avals, i), placement);
            if (x == NULL)
                goto done;
            PyList_SET_ITEM(outs, i, x);
            Py_DECREF(buffer);
        }
        result = PyObject_CallOneArg(make, outs);
    }
done:
    Py_DECREF(outs);
    return result;
}

/* ------------------------------------------------------------------------- RepeatedCalls */

typedef struct {
    PyObject_HEAD
    PyObject *calls;
} Repeated;

/* Whether an attribute is this object; -1 if it cannot be read. */
static int attribute_is(PyObject *object, PyObject *name, PyObject *expected)
{
    PyObject *value = PyObject_GetAttr(object, name);
    Py_XDECREF(value);
    return value == NULL ? -1 : value == expected;
}

/* Arguments of any kind: leaves and tree as jaxlib sees them; for what is no array Python helps. */
static PyObject *flattened(PyObject *args)
{
    PyObject *pair = PyObject_CallOneArg(flatten, args);
    if (pair != NULL) {
        PyObject *leaves = PyTuple_GET_ITEM(pair, 0);
        if (all_arrays(PySequence_Fast_ITEMS(leaves), PySequence_Fast_GET_SIZE(leaves)))
            return pair;
        Py_DECREF(pair);
    } else {
        PyErr_Clear();
    }
    return PyObject_CallOneArg(leaves_of, args);
}

/* The key of a call, and the buffers of its arguments. */
static PyObject *key_of_call(PyObject *args, PyObject **buffers)
{
    PyObject *start = PyObject_CallNoArgs(trace_key), *key = NULL;
    if (start == NULL)
        return NULL;
    PyObject *const *items = PySequence_Fast_ITEMS(args);
    if (all_arrays(items, PyTuple_GET_SIZE(args))) {
        key = read_arrays(start, NULL, items, PyTuple_GET_SIZE(args), buffers);
    } else {
        PyObject *pair = flattened(args);
        if (pair != NULL) {
            PyObject *leaves = PyTuple_GET_ITEM(pair, 0), *in_tree = PyTuple_GET_ITEM(pair, 1);
            key = read_arrays(start, in_tree, PySequence_Fast_ITEMS(leaves),
                              PySequence_Fast_GET_SIZE(leaves), buffers);
            Py_DECREF(pair);
        }
    }
    Py_DECREF(start);
    return key;
}

/* Removes the frames of the library from the exception that is set. */
static void tidy(void)
{
    PyObject *error = raised();
    PyObject *done = PyObject_CallOneArg(drop_own_frames, error);
    if (done != NULL) {
        Py_DECREF(done);
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    }
    Py_DECREF(error);
}

/* Calls `_call`, which does everything. */
static PyObject *call_slowly(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *method = PyObject_GetAttr(self, call_text);
    PyObject *result = method == NULL ? NULL : PyObject_Call(method, args, kwargs);
    Py_XDECREF(method);
    return result;
}

static PyObject *repeated_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *table = ((Repeated *)self)->calls, *buffers;
    if (table == NULL || !PyDict_Check(table) || (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0))
        return call_slowly(self, args, kwargs);
    int outside = attribute_is(context, trace_text, eval_trace);
    int alone = attribute_is(watch, ever_on_text, Py_False);
    if (outside < 0 || alone < 0)
        return NULL;
    if (!outside || !alone)
        return call_slowly(self, args, kwargs);
    PyObject *key = key_of_call(args, &buffers);
    if (key == NULL)
        return NULL;
    PyObject *found = PyDict_GetItemWithError(table, key);
    Py_XINCREF(found); /* the table may be emptied meanwhile */
    Py_DECREF(key);
    if (found == NULL) {
        Py_DECREF(buffers);
        return PyErr_Occurred() ? NULL : call_slowly(self, args, kwargs);
    }
    PyObject *result = run(found, buffers);
    Py_DECREF(found);
    if (result == NULL)
        tidy();
    return result;
}

static int repeated_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Repeated *)self)->calls);
    return 0;
}

static int repeated_clear(PyObject *self)
{
    Py_CLEAR(((Repeated *)self)->calls);
    return 0;
}

static void repeated_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    repeated_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef repeated_members[] = {
    {"_calls", T_OBJECT_EX, offsetof(Repeated, calls), 0, "The programs by their keys, or None."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot repeated_slots[] = {
    {Py_tp_doc, "A callable that goes straight to a compiled program where it has one."},
    {Py_tp_call, repeated_call},
    {Py_tp_traverse, repeated_traverse},
    {Py_tp_clear, repeated_clear},
    {Py_tp_dealloc, repeated_dealloc},
    {Py_tp_members, repeated_members},
    {0, NULL},
};

static PyType_Spec repeated_spec = {
    "covector._src.xla._calls.RepeatedCalls", sizeof(Repeated), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, repeated_slots,
};

/* ------------------------------------------------------------------------- op_again */

/* An operand as an array. */
static PyObject *as_array(PyObject *x, PyObject *to_array, PyObject *primitive)
{
    if (Py_IS_TYPE(x, array_type))
        return Py_NewRef(x);
    PyObject *name = PyObject_GetAttr(primitive, name_text);
    if (name == NULL)
        return NULL;
    PyObject *arguments[] = {x, name};
    PyObject *result = PyObject_Vectorcall(to_array, arguments, 2, NULL);
    Py_DECREF(name);
    return result;
}

/* Adds the operands' types to a key from place 2 on, then the parameters; fills in the buffers. */
static int read_operation(PyObject *primitive, PyObject *args, PyObject *params,
                          PyObject *to_array, PyObject *key, PyObject *buffers)
{
    Py_ssize_t place = 2, position = 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(args); i++, place++) {
        PyObject *x = as_array(PySequence_Fast_GET_ITEM(args, i), to_array, primitive);
        int status = x == NULL ? -1 : read_array(x, key, place, buffers, i);
        Py_XDECREF(x);
        if (status < 0)
            return -1;
    }
    for (PyObject *name, *value; PyDict_Next(params, &position, &name, &value); place++) {
        PyObject *item = PyTuple_Pack(2, name, value);
        if (item == NULL)
            return -1;
        PyTuple_SET_ITEM(key, place, item);
    }
    return 0;
}

/* What the table has for an operation, or NULL; takes the key away. */
static PyObject *look_up(PyObject *table, PyObject *key)
{
    PyObject *found = PyDict_GetItemWithError(table, key);
    Py_XINCREF(found);
    Py_DECREF(key);
    if (found == NULL && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Clear(); /* a parameter is not hashable */
    return found;
}

static PyObject *op_again(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 6 || !PyDict_Check(arguments[0]) || !PyDict_Check(arguments[5]) ||
        !(PyTuple_Check(arguments[4]) || PyList_Check(arguments[4]))) {
        PyErr_SetString(PyExc_TypeError, "op_again takes a table, two functions, a primitive, "
                                         "operands and parameters");
        return NULL;
    }
    PyObject *primitive = arguments[3], *args = arguments[4], *params = arguments[5];
    int alone = attribute_is(watch, ever_on_text, Py_False);
    if (alone <= 0)
        return alone < 0 ? NULL : PyObject_Vectorcall(arguments[1], arguments + 3, 3, NULL);
    Py_ssize_t operands = PySequence_Fast_GET_SIZE(args);
    PyObject *start = PyObject_CallNoArgs(trace_key), *buffers = PyList_New(operands);
    PyObject *key = PyTuple_New(2 + operands + PyDict_GET_SIZE(params));
    if (start == NULL || buffers == NULL || key == NULL)
        goto failed;
    PyTuple_SET_ITEM(key, 0, start);
    PyTuple_SET_ITEM(key, 1, Py_NewRef(primitive));
    start = NULL;
    if (read_operation(primitive, args, params, arguments[2], key, buffers) < 0)
        goto failed;
    PyObject *found = look_up(arguments[0], key);
    if (found != NULL) {
        PyObject *result = run(found, buffers);
        Py_DECREF(found);
        return result;
    }
    Py_DECREF(buffers);
    return PyErr_Occurred() ? NULL : PyObject_Vectorcall(arguments[1], arguments + 3, 3, NULL);
failed:
    Py_XDECREF(start);
    Py_XDECREF(key);
    Py_XDECREF(buffers);
    return NULL;
}

/* ------------------------------------------------------------------------- the module */

static int find_slots(PyTypeObject *arrays, PyTypeObject *calls)
{
    struct { PyTypeObject *type; const char *name; Py_ssize_t *offset; } slots[] = {
        {arrays, "_buffer", &array.buffer}, {arrays, "aval", &array.aval},
        {arrays, "_placement", &array.placement}, {arrays, "_host", &array.host},
        {calls, "execute", &call.execute}, {calls, "kept", &call.kept},
        {calls, "consts", &call.consts}, {calls, "handlers", &call.handlers},
        {calls, "out_avals", &call.out_avals}, {calls, "placement", &call.placement},
        {calls, "make", &call.make}, {calls, "failed", &call.failed},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (find_offset(slots[i].type, slots[i].name, slots[i].offset) < 0)
            return -1;
    return 0;
}

/* Takes the types, what tells whether a call is a usual one, and functions that help. */
static PyObject *prepare(PyObject *module, PyObject *arguments)
{
    PyTypeObject *calls;
    if (!PyArg_ParseTuple(arguments, "(O!O!)(OOOO)(OOO)", &PyType_Type, &array_type, &PyType_Type,
                          &calls, &context, &eval_trace, &watch, &trace_key, &flatten, &leaves_of,
                          &drop_own_frames))
        return NULL;
    if (find_slots(array_type, calls) < 0)
        return NULL;
    PyObject *kept[] = {(PyObject *)array_type, context, eval_trace, watch,
                        trace_key, flatten, leaves_of, drop_own_frames};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        Py_INCREF(kept[i]);
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"prepare", prepare, METH_VARARGS, "Make the types and functions of calls.py known."},
    {"op_again", (PyCFunction)(void (*)(void))op_again, METH_FASTCALL,
     "op_again(calls, otherwise, to_array, primitive, args, params): as in calls.py."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_calls", "The path of repeated calls in C.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__calls(void)
{
    name_text = PyUnicode_InternFromString("name");
    trace_text = PyUnicode_InternFromString("trace");
    ever_on_text = PyUnicode_InternFromString("ever_on");
    consume_text = PyUnicode_InternFromString("consume_with_handlers");
    call_text = PyUnicode_InternFromString("_call");
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&repeated_spec);
    if (call_text == NULL || module == NULL || type == NULL ||
        PyModule_AddObjectRef(module, "RepeatedCalls", type) < 0)
        return NULL;
    Py_DECREF(type);
    return module;
}
