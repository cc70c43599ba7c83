/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of Booleans: the most active one first, and of equally active ones the lowest number. */
#include "satisfy/solver.h"

static bool before(const gbsi_satisfier *s, uint32_t a, uint32_t b)
{
    return s->activity[a] != s->activity[b] ? s->activity[a] > s->activity[b] : a < b;
}

static void put(gbsi_satisfier *s, uint32_t place, uint32_t boolean)
{
    s->heap[place] = boolean;
    s->heap_place[boolean] = place;
}

static void rise(gbsi_satisfier *s, uint32_t place, uint32_t boolean)
{
    while (place > 0 && before(s, boolean, s->heap[(place - 1) / 2])) {
        put(s, place, s->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(s, place, boolean);
}

void gbsi_heap_insert(gbsi_satisfier *s, uint32_t boolean)
{
    if (s->heap_place[boolean] == GBSI_NONE) {
        rise(s, s->heap_length++, boolean);
    }
}

void gbsi_heap_raise(gbsi_satisfier *s, uint32_t boolean)
{
    if (s->heap_place[boolean] != GBSI_NONE) {
        rise(s, s->heap_place[boolean], boolean);
    }
}

uint32_t gbsi_heap_pop(gbsi_satisfier *s)
{
    const uint32_t top = s->heap[0];
    const uint32_t last = s->heap[--s->heap_length];
    s->heap_place[top] = GBSI_NONE;
    if (s->heap_length == 0) {
        return top;
    }
    uint32_t place = 0;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= s->heap_length) {
            break;
        }
        child += child + 1 < s->heap_length && before(s, s->heap[child + 1], s->heap[child]);
        if (!before(s, s->heap[child], last)) {
            break;
        }
        put(s, place, s->heap[child]);
        place = child;
    }
    put(s, place, last);
    return top;
}
