"""From which sizes on programs for CPUs are written otherwise than as XLA's own operations.

XLA's CPU compiler makes slow loops of some operations: it calls comparisons through pointers,
copies what it carries, or uses one lane of a vector register.  Such operations are written as
programs of others there.  A program of many operations takes longer to compile, and its passes
over the data cost more than they save where there is little of it; so each of these numbers says
from where on it pays.  Unless something else is said, they count elements.

Times are of two cores of an AMD EPYC (Zen 4) with float32, XLA's operation first; they are the best
of several runs.
"""

# ---------------------------------------------------------------- order

# Sorting by integer keys.  1000 elements: 82 us to 23, with keys and places 114 us to 20; a
# million: 236 ms to 42.  Below, what is waited for is the compiler (41 ms to 52).
SORT = 1024
# Sorting with so many 32-bit words for a key at most: each takes one sort of integers.
SORT_WORDS = 4
# The k greatest of n elements by sorting all, where k is more than n divided by this.  100000 of a
# million: 90 ms to 63; 500 of 1000 in each of 1000 rows: 70 ms to 33; but 100 of 1000: 24 to 33.
TOP_K = 8

# ---------------------------------------------------------------- extrema

# XLA hands extrema of so many numbers over to a library, which loses NaN.
EXTREMUM = 4096
# XLA takes reductions over dimensions of more elements than that apart.  Folded up so far, 1000
# rows of 512 take 0.13 ms instead of 0.2, 20 rows of 50257 0.19 instead of 0.68, and a million in
# one line 0.20 instead of 0.35.
EXTREMUM_WINDOW = 32
# Extrema over other dimensions than the last begin with so many slices: of 2000 rows of 200, over
# the rows, 0.12 ms instead of 0.35.
EXTREMUM_SLICES = 8
# Where so many elements lie side by side in them: 10000 rows of 10 took 0.08 ms instead of 0.06,
# and 0.3 s to compile instead of 0.1.
EXTREMUM_SLICED = 64

# ---------------------------------------------------------------- places of extrema

# The extremum, and then its first place, instead of a reduction of pairs.  1024 rows of 1024:
# 1.65 ms to 0.8; a million in one line: 2.8 ms to 0.4.
ARGMAX = 4096
# Along shorter axes it loses: 10000 lines of 10 took .02 ms, and .34 so.
ARGMAX_AXIS = 32
# From this length on a line is worth splitting into blocks: a million 0.94 ms to 0.4.
ARGMAX_BLOCKS = 512

# ---------------------------------------------------------------- cumulative operations

# Loops that take several steps at a time, or lie otherwise in memory, instead of one step after
# another over numbers: on a busy machine, a million 4.9 ms to 1.1, where PyTorch takes 1.3.
CUMULATIVE = 8192
# With so many elements side by side at each step, the plain loop is fast: 1024 rows of 1024, added
# up along the first axis, take 0.3 ms.
CUMULATIVE_ROW = 16
# So many lines along the axis are better transposed: 1024 of 1024 took 15 ms in place, 2.9 so.
CUMULATIVE_LINES = 16
# How many steps at a time.  With 4 the loop takes twice as long; with 16, XLA does not fuse them
# any more and copies the result at each step, which takes hundreds of milliseconds.
CUMULATIVE_WIDTH = 8

# ---------------------------------------------------------------- convolutions

# A depthwise convolution as a sum of shifted arrays.  Windows of 3x3 on 16x32x32x32: 14.3 ms to
# 0.26; its gradients 28 ms to 0.9 and 17.5 to 1.3.
DEPTHWISE = 2048
# Windows of more elements, those for all features of a group counted, make programs that take long
# to compile. 4 features in each of 32 groups, 3x3: 22 ms to 2.2.
DEPTHWISE_WINDOW = 49
# So do gradients of windows of more elements: with 3x3 it takes as long as XLA's own convolution.
DEPTHWISE_RESULT = 25
# XLA's own convolution instead of a library's.  16x32x32x32 with 64x32x3x3: 6.6 ms to 3.7; with
# fewer features it loses: of one feature, windows of 5x5 took 1.3 ms, and 3.0 so.
CONVOLUTION_FEATURES = 16
# So many pairs of a feature and an output, too: of 8 images of 32x32, 16 features to 16 take the
# same time so, 16 to 32 0.9 ms instead of 1.3, 16 to 64 1.4 instead of 2.4.
CONVOLUTION_PAIRS = 512
# In small arrays too: 8x8 images of 3 features took 14 us, and up to 53 so.
CONVOLUTION = 32768
# As products of matrices, where the largest array has so many elements: windows of one element,
# 64 features to 256 of two images of 56x56, 10 ms to 2, the gradient for the window 21 to 3.
CONVOLUTION_PRODUCT = 512
# One convolution for each of so many groups: 4 groups of 16 features of 28x28 4.0 ms to 1.6, their
# gradients for the window 160 to 4.  Each takes 0.05 s to compile.
CONVOLUTION_GROUPS = 8
# Few features to few outputs as a sum of shifted arrays, with so many products for each place: of
# an image of 512x512, windows of 5x5, 24 ms to 0.6; a million in one line, windows of 25, 32 ms to
# 1.8; 3 features to 16 of 8 images of 32x32, windows of 3x3, 0.8 ms to 0.2.  From 1 to 31, windows
# of 7x7, it loses: 0.3 ms to 0.7.
CONVOLUTION_TERMS = 1024
# The gradient for a small window, which is a convolution with a window of so many elements, as a
# product for each of its places: 8 features to 8 of an image of 256x256, 3x3, 26 ms to 4.2.
CONVOLUTION_WINDOW = 16384
# Three dimensions as two, where the window has so many elements, or places, along the first: 8
# features to 16 of two arrays of 16x16x16, windows of 3x3x3, 7.4 ms to 1.2, PyTorch 1.0; with
# strides of 2, 16 features to 32, the gradient for lhs 130 ms to 2.
CONVOLUTION_SLICES = 8
# A library does the convolutions of 64-bit floats if there are so many features or outputs, XLA
# slowly if not: 16 features to 16 of 8 images of 32x32, windows of 3x3, 16 ms, and as products 2.
CONVOLUTION_LIBRARY = 32

# ---------------------------------------------------------------- counting

# Quantiles of one line by selection instead of sorting: a million 237 ms to 3.  They take 0.3 s
# longer to compile, for which shorter lines can be sorted a hundred times.
QUANTILE = 65536
# Each takes as long again, and sorting is done but once.
QUANTILES = 4
# The number of a histogram's bin by division instead of a search: a million in 100 bins 8.3 ms to
# 1.7.
HISTOGRAM = 4096

# ---------------------------------------------------------------- Fourier transforms

# Transforms of one vector in parts, where its length is a power of two: 2^19 complex numbers 5.5 ms
# to 2.3, as many real ones 5.7 ms to 2.8.
FFT_LONG = 2**17
# From 2^20 on there are too many parts: it takes as long, or longer.
FFT_LONGEST = 2**19
# The length of the parts: XLA transforms 2^16 elements in 0.32 ms, and 2^17 in 1.3.
FFT_SHORT = 2**16

# ---------------------------------------------------------------- our own kernels

# Calling one takes 0.15 us, and XLA fuses nothing with it: in a loop over small arrays it loses.
NATIVE = 4096
# Places of extrema of shorter lines are found as fast by XLA's loops, and so are those along the
# first of two dimensions if there are fewer columns.
NATIVE_LINE = 128
NATIVE_COLUMNS = 16
# Fourier transforms of lines whose lengths are powers of two, of complex numbers; of real ones half
# as many count.  On a busy machine, against XLA's own: 2^16 0.6 ms to 0.9, 2^19 3.8 to 15 and 2^22
# 55 to 136, but 2^15 0.34 to 0.32.
NATIVE_FOURIER = 2**16
NATIVE_FOURIER_LONGEST = 2**28
