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

static PyTypeObject *array_type, *host_array_type;
static PyObject *context, *eval_trace, *watch, *trace_key;
static PyObject *flatten, *leaves_of, *to_array, *drop_own_frames;
static PyObject *name_text, *trace_text, *ever_on_text, *consume_text, *call_text, *jit_text;

static struct { Py_ssize_t buffer, aval, placement, host; } array;
static struct {
    Py_ssize_t execute, kept, consts, handlers, out_avals, placements, make, tuples, failed;
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

/* An array, or what can be made one at once: a number, or an array of NumPy's. */
static int is_leaf(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x);
    return type == array_type || type == host_array_type || type == &PyFloat_Type ||
           type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type;
}

static int all_leaves(PyObject *const *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!is_leaf(items[i]))
            return 0;
    return 1;
}

/* A value as an array; `convert` makes it one, in the name of `doing`. */
static PyObject *as_array(PyObject *x, PyObject *convert, PyObject *doing)
{
    if (Py_IS_TYPE(x, array_type))
        return Py_NewRef(x);
    PyObject *arguments[] = {x, doing};
    return PyObject_Vectorcall(convert, arguments, 2, NULL);
}

/* Adds the types of values to a key from a place on, and fills a list with their buffers. */
static int read_values(PyObject *const *values, Py_ssize_t count, PyObject *convert,
                       PyObject *doing, PyObject *key, Py_ssize_t place, PyObject *buffers)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *x = as_array(values[i], convert, doing);
        int status = x == NULL ? -1 : read_array(x, key, place + i, buffers, i);
        Py_XDECREF(x);
        if (status < 0)
            return -1;
    }
    return 0;
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

/* Puts arrays in the places of buffers in a list that is nobody else's. */
static int wrap_all(PyObject *outs, PyObject *avals, PyObject *placements)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(outs); i++) {
        PyObject *buffer = PyList_GET_ITEM(outs, i);
        PyObject *x = new_array(buffer, PyTuple_GET_ITEM(avals, i),
                                PyTuple_GET_ITEM(placements, i));
        if (x == NULL)
            return -1;
        PyList_SET_ITEM(outs, i, x);
        Py_DECREF(buffer);
    }
    return 0;
}

/* Tuples like these, with arrays of a list, from `next` on, where None is. */
static PyObject *filled(PyObject *tuples, PyObject *arrays, Py_ssize_t *next)
{
    Py_ssize_t count = PyTuple_GET_SIZE(tuples);
    PyObject *result = PyTuple_New(count);
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *part = PyTuple_GET_ITEM(tuples, i);
        part = part == Py_None ? Py_NewRef(PyList_GET_ITEM(arrays, (*next)++))
                               : filled(part, arrays, next);
        if (part == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, part);
    }
    return result;
}

/* The result of a program, made of its outputs. */
static PyObject *result_of(PyObject *self, PyObject *outs)
{
    PyObject *avals = get(self, call.out_avals), *placements = get(self, call.placements);
    PyObject *make = get(self, call.make), *tuples = get(self, call.tuples);
    Py_ssize_t count = PyTuple_GET_SIZE(avals), next = 0;
    if (!PyList_Check(outs) || PyList_GET_SIZE(outs) != count)
        return PyErr_Format(PyExc_SystemError, "XLA gave other outputs than %zd arrays", count);
    if (wrap_all(outs, avals, placements) < 0)
        return NULL;
    if (make == Py_None)
        return Py_NewRef(PyList_GET_ITEM(outs, 0));
    return tuples == Py_None ? PyObject_CallOneArg(make, outs) : filled(tuples, outs, &next);
}

/* `Call.__call__`, which takes the buffers away from its caller. */
static PyObject *run(PyObject *self, PyObject *buffers)
{
    PyObject *outs = execute(self, buffers), *result = NULL;
    Py_DECREF(buffers);
    if (outs != NULL) {
        result = result_of(self, outs);
        Py_DECREF(outs);
    }
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

/* The key of a call with these leaves, in a tree unless that is NULL; the leaves' buffers. */
static PyObject *key_of_leaves(PyObject *in_tree, PyObject *leaves, PyObject **buffers)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(leaves), place = in_tree == NULL ? 1 : 2;
    PyObject *start = PyObject_CallNoArgs(trace_key), *key = PyTuple_New(place + count);
    *buffers = PyList_New(count);
    if (start == NULL || key == NULL || *buffers == NULL)
        goto failed;
    PyTuple_SET_ITEM(key, 0, start);
    start = NULL;
    if (in_tree != NULL)
        PyTuple_SET_ITEM(key, 1, Py_NewRef(in_tree));
    if (read_values(PySequence_Fast_ITEMS(leaves), count, to_array, jit_text, key, place,
                    *buffers) == 0)
        return key;
failed:
    Py_XDECREF(start);
    Py_XDECREF(key);
    Py_CLEAR(*buffers);
    return NULL;
}

/* The key of a call, and the buffers of its arguments.  Trees are taken apart by jaxlib, and where
   that does not go, or leaves are neither arrays nor plain numbers, by Python. */
static PyObject *key_of_call(PyObject *args, PyObject **buffers)
{
    if (all_leaves(PySequence_Fast_ITEMS(args), PyTuple_GET_SIZE(args)))
        return key_of_leaves(NULL, args, buffers);
    PyObject *pair = PyObject_CallOneArg(flatten, args);
    if (pair == NULL)
        PyErr_Clear();
    else if (!all_leaves(PySequence_Fast_ITEMS(PyTuple_GET_ITEM(pair, 0)),
                         PySequence_Fast_GET_SIZE(PyTuple_GET_ITEM(pair, 0))))
        Py_CLEAR(pair);
    if (pair == NULL)
        pair = PyObject_CallOneArg(leaves_of, args);
    if (pair == NULL)
        return NULL;
    PyObject *key = key_of_leaves(PyTuple_GET_ITEM(pair, 1), PyTuple_GET_ITEM(pair, 0), buffers);
    Py_DECREF(pair);
    return key;
}

/* Whether the exception says that a value cannot be an array, which Python then says better. */
static int is_about_values(void)
{
    return PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError);
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
    if (key == NULL) {
        if (!is_about_values())
            return NULL;
        PyErr_Clear();
        return call_slowly(self, args, kwargs);
    }
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

/* Adds the operands' types to a key from place 2 on, then the parameters; fills in the buffers. */
static int read_operation(PyObject *primitive, PyObject *args, PyObject *params,
                          PyObject *convert, PyObject *key, PyObject *buffers)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(args), place = 2 + count, position = 0;
    PyObject *name = PyObject_GetAttr(primitive, name_text), *parameter, *value;
    int status = name == NULL ? -1 : read_values(PySequence_Fast_ITEMS(args), count, convert, name,
                                                 key, 2, buffers);
    Py_XDECREF(name);
    while (status == 0 && PyDict_Next(params, &position, &parameter, &value)) {
        PyObject *item = PyTuple_Pack(2, parameter, value);
        if (item == NULL)
            return -1;
        PyTuple_SET_ITEM(key, place++, item);
    }
    return status;
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
        {calls, "out_avals", &call.out_avals}, {calls, "placements", &call.placements},
        {calls, "make", &call.make}, {calls, "tuples", &call.tuples},
        {calls, "failed", &call.failed},
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
    if (!PyArg_ParseTuple(arguments, "(O!O!O!)(OOOO)(OOOO)", &PyType_Type, &array_type,
                          &PyType_Type, &calls, &PyType_Type, &host_array_type, &context,
                          &eval_trace, &watch, &trace_key, &flatten, &leaves_of, &to_array,
                          &drop_own_frames))
        return NULL;
    if (find_slots(array_type, calls) < 0)
        return NULL;
    PyObject *kept[] = {(PyObject *)array_type, (PyObject *)host_array_type, context, eval_trace,
                        watch, trace_key, flatten, leaves_of, to_array, drop_own_frames};
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
    jit_text = PyUnicode_InternFromString("jit");
    PyObject *module = PyModule_Create(&definition), *type = PyType_FromSpec(&repeated_spec);
    if (jit_text == NULL || module == NULL || type == NULL ||
        PyModule_AddObjectRef(module, "RepeatedCalls", type) < 0)
        return NULL;
    Py_DECREF(type);
    return module;
}
