"""Values at places: numpy would first copy the places as 64-bit integers."""

from . import kernel


@kernel
def gather(values, index, out):
    """out[i] = values[index[i]]; out may be index itself."""
    for i in range(index.size):
        out[i] = values[index[i]]
