"""Keys, non-negative integers of 63 bits or rows of them: numbered, counted, merged and looked up."""

import numpy as np

from . import kernel


@kernel
def hash_key(key, mask):
    """Slot of a non-negative 63-bit key in a table of mask + 1 slots; no product leaves 63 bits."""
    h = (key & 0xFFFFFFFF) * 0x3C6EF35F + (key >> 32) * 0x2545F491
    return (h ^ (h >> 31)) & mask


@kernel
def insert_keys(keys, slots):
    """Enter distinct keys into a hash table of (key, number) slots, number -1 = free."""
    mask = slots.shape[0] - 1
    for i in range(keys.size):
        h = hash_key(keys[i], mask)
        while slots[h, 1] >= 0:
            h = (h + 1) & mask
        slots[h, 0] = keys[i]
        slots[h, 1] = i


@kernel
def number_keys(keys, begin, slots, distinct, n, out):
    """Number keys[begin:] in order of appearance, n of them being known; (keys done, distinct keys).

    Stops early when `distinct` is full; the table must have more slots than it.
    """
    mask = slots.shape[0] - 1
    last = np.int64(-1)
    number = np.int64(0)
    for i in range(begin, keys.size):
        key = np.int64(keys[i])
        if key != last:
            h = hash_key(key, mask)
            while slots[h, 1] >= 0 and slots[h, 0] != key:
                h = (h + 1) & mask
            if slots[h, 1] < 0:
                if n == distinct.size:
                    return i, n
                slots[h, 0] = key
                slots[h, 1] = n
                distinct[n] = key
                n += 1
            last = key
            number = slots[h, 1]
        out[i] = number
    return keys.size, n


@kernel
def sort_digit(keys, places, shift, room, next_keys, next_places):
    """One stable pass of a radix sort by the bits shift..shift+7; room has 256 zeros.

    Returns False, and does nothing, if all keys agree in these bits.
    """
    for i in range(keys.size):
        room[(keys[i] >> shift) & 255] += 1
    if room[(keys[0] >> shift) & 255] == keys.size:
        return False
    total = 0
    for d in range(256):
        n = room[d]
        room[d] = total
        total += n
    for i in range(keys.size):
        d = (keys[i] >> shift) & 255
        next_keys[room[d]] = keys[i]
        next_places[room[d]] = places[i]
        room[d] += 1
    return True


@kernel
def number_sorted(keys, places, out):
    """Number sorted keys: out[places[i]] = number of keys[i]; keys[:n] become the distinct ones; returns n."""
    n = 0
    last = keys[0]
    for i in range(keys.size):
        if keys[i] != last:
            last = keys[i]
            n += 1
            keys[n] = last
        out[places[i]] = n
    return n + 1


@kernel
def tally(numbers, counts):
    """counts[number] += 1."""
    for i in range(numbers.size):
        counts[numbers[i]] += 1


@kernel
def tally_pairs(first, second, n_second, counts):
    """counts[first * n_second + second] += 1, where both are numbers (-1 = none)."""
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            counts[first[i] * n_second + second[i]] += 1


@kernel
def group_pairs(first, second, stop, grouped):
    """The seconds of each first, one group after the other, where both are numbers (-1 = none).

    stop[f] = where the group of f ends; before, it is 0.
    """
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            stop[first[i]] += 1
    total = 0
    for f in range(stop.size):
        size = stop[f]
        stop[f] = total
        total += size
    for i in range(first.size):
        if first[i] >= 0 and second[i] >= 0:
            grouped[stop[first[i]]] = second[i]
            stop[first[i]] += 1


@kernel
def count_groups(grouped, stop, room, counts):
    """Keep the distinct seconds of each group, increasing, and how often each occurs; returns how many these are.

    They come to be the first of `grouped`, with their counts beside them, and stop[f] is where the distinct ones of f
    end. room has a zero for each possible second, and has it afterwards.
    """
    n = 0
    begin = 0
    for f in range(stop.size):
        first = n
        for i in range(begin, stop[f]):
            z = grouped[i]
            room[z] += 1
            if room[z] == 1:
                grouped[n] = z
                n += 1
        if n > first + 1:
            grouped[first:n].sort()
        for i in range(first, n):
            counts[i] = room[grouped[i]]
            room[grouped[i]] = 0
        begin = stop[f]
        stop[f] = n
    return n


@kernel
def renumber_pairs(pairs, first, second, n_second, out):
    """out = first[a] * n_second + second[b] for pairs a * second.size + b; it may be pairs itself."""
    for i in range(pairs.size):
        a = pairs[i] // second.size
        out[i] = first[a] * n_second + second[pairs[i] - a * second.size]


@kernel
def _order(a, b):
    """-1, 0 or 1, as row a comes before b, is the same, or comes after it."""
    for k in range(a.size):
        if a[k] != b[k]:
            return -1 if a[k] < b[k] else 1
    return 0


@kernel
def merge_rows(a, b, merged, place_a, place_b):
    """Union of two lists of distinct rows in lexicographic order, and where each row went; returns its size."""
    i = 0
    j = 0
    n = 0
    while i < a.shape[0] or j < b.shape[0]:
        if i == a.shape[0]:
            order = 1
        elif j == b.shape[0]:
            order = -1
        else:
            order = _order(a[i], b[j])
        source = b[j] if order > 0 else a[i]
        for k in range(a.shape[1]):
            merged[n, k] = source[k]
        if order <= 0:
            place_a[i] = n
            i += 1
        if order >= 0:
            place_b[j] = n
            j += 1
        n += 1
    return n


@kernel
def add_sorted(a, a_counts, b, b_counts, keys, counts):
    """Union of two increasing lists of keys, their counts added up; returns its size."""
    i = 0
    j = 0
    n = 0
    while i < a.size or j < b.size:
        from_a = j == b.size or (i < a.size and a[i] <= b[j])
        key = a[i] if from_a else b[j]
        total = 0
        if from_a:
            total += a_counts[i]
            i += 1
        if j < b.size and b[j] == key:
            total += b_counts[j]
            j += 1
        keys[n] = key
        counts[n] = total
        n += 1
    return n


@kernel
def common_letters(keys, sizes, powers, shared):
    """shared[i] = how many first letters words i and i - 1 share; they are distinct, sorted and packed.

    Column k holds sizes[k] letters; powers[j] = base ** j.
    """
    for i in range(1, keys.shape[0]):
        k = 0
        before = 0
        while keys[i, k] == keys[i - 1, k]:
            before += sizes[k]
            k += 1
        low = 0
        high = sizes[k] - 1
        while low < high:
            m = (low + high + 1) // 2
            power = powers[sizes[k] - m]
            if keys[i, k] // power == keys[i - 1, k] // power:
                low = m
            else:
                high = m - 1
        shared[i] = before + low


@kernel
def find_led_to(keys, base, tops, source, symbol, at, target):
    """target[i] = the row of the word that row source[i] becomes, symbol[i] before it and its last letter gone; or -1.

    Rows are distinct, sorted and packed, tops[k] = base ** (letters in column k - 1), and at[s] = the first row that
    begins with s or more, which moves on: where sources increase, so do the words that a symbol makes of them.
    """
    word = np.empty(keys.shape[1], np.int64)
    for i in range(source.size):
        carry = symbol[i]
        for k in range(word.size):
            key = keys[source[i], k]
            rest = key // base
            word[k] = carry * tops[k] + rest
            carry = key - rest * base
        row = at[symbol[i]]
        order = -1
        while row < keys.shape[0]:
            order = _order(keys[row], word)
            if order >= 0:
                break
            row += 1
        at[symbol[i]] = row
        target[i] = row if order == 0 else -1
