/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of the library is allocated here, which lets a test make the n-th request fail. */
#ifndef GBSI_BASE_MEMORY_H
#define GBSI_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/* Allocates memory. Returns NULL if memory is used up, or if the size exceeds a size_t. A request
 * of 0 bytes gives a pointer that may be freed. */
void *gbsi_alloc(uint64_t wanted);
void *gbsi_alloc_zero(uint64_t wanted);
/* Allocates n elements of the given size; NULL also if the product overflows. */
void *gbsi_alloc_array(uint64_t n, uint64_t size);
void *gbsi_alloc_array_zero(uint64_t n, uint64_t size);
void *gbsi_realloc_array(void *pointer, uint64_t n, uint64_t size);
/* Allocates zeroed memory that is aligned to 64 bytes (a cache line, a row of 16 lanes). The
 * array has 64 bytes of slack at its end, because a vector load of the last element may read
 * past it. gbsi_free() frees this memory as well. */
void *gbsi_alloc_lanes(uint64_t n, uint64_t size);
void gbsi_free(void *pointer);
/* Calls gbsi_free() for each of the given pointers, from the first to the last. */
#define GBSI_FREE(...)                                                    \
    gbsi_free_each(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *), \
                   (void *const[]){__VA_ARGS__})
void gbsi_free_each(size_t n, void *const pointer[]);

/* Store a * b in *product, and a + b in *sum. @return false if the result does not fit a size_t. */
bool gbsi_mul_size(uint64_t a, uint64_t b, size_t *product);
bool gbsi_add_size(size_t a, size_t b, size_t *sum);

/* One array of an object. From a list of such arrays, the functions below compute the size of the
 * object, allocate the object and free it. */
typedef struct gbsi_room {
    void *pointer;    /* address of the pointer to the array */
    uint64_t n, size; /* number of elements, and bytes of one element */
    /* function that allocates the array: gbsi_alloc_array(), or one with the same parameters */
    void *(*alloc)(uint64_t, uint64_t);
} gbsi_room;
#define GBSI_ROOM(pointer, n, alloc) ((gbsi_room){&(pointer), (n), sizeof *(pointer), (alloc)})
/* The bytes of all listed arrays, without slack; UINT64_MAX if the sum exceeds 64 bits. */
uint64_t gbsi_rooms_bytes(const gbsi_room *arrays, size_t n);
/* Allocates one array after the other. On failure the pointers of the arrays not yet allocated are
 * unchanged: if they were NULL before, the object can be freed. */
gbs_status gbsi_rooms_take(const gbsi_room *arrays, size_t n, const char *what, gbs_error *err);
void gbsi_rooms_free(const gbsi_room *arrays, size_t n);
/* Shrinks all arrays that exist to the listed numbers of elements, which gives back the memory that
 * growing arrays have in reserve. An array that cannot be moved stays unchanged. The alignment of
 * gbsi_alloc_lanes() may be lost. */
void gbsi_rooms_shrink(const gbsi_room *arrays, size_t n);

/* Writes a number of bytes as a text such as "1.4 GiB", for messages. */
void gbsi_bytes_text(double bytes, char text[16]);

/* For tests only: lets the next n requests succeed and makes all later requests fail; UINT64_MAX:
 * no request fails. */
void gbsi_alloc_fail_after(uint64_t n);

/* Grows a dynamic array, by doubling, to hold at least n elements. On failure the array is
 * unchanged. */
gbs_status gbsi_reserve(void **pointer, size_t *capacity, uint64_t n, size_t size, const char *what,
                        gbs_error *err);

/* Writes the message of a failed request. @return GBS_ERR_LIMIT if the memory limit of a budget
 * (budget.h) refused the request, otherwise GBS_ERR_MEMORY. */
gbs_status gbsi_no_memory(gbs_error *err, const char *what, uint64_t bytes);

/* Returns GBS_OK if none of the pointers is NULL; gbsi_alloc*() must have returned them to this
 * thread just now. Otherwise returns gbsi_no_memory() with the bytes of the request that failed. */
#define GBSI_HAVE(err, what, ...)                                                           \
    gbsi_have(err, what, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *), \
              (const void *const[]){__VA_ARGS__})
gbs_status gbsi_have(gbs_error *err, const char *what, size_t n, const void *const pointer[]);

#endif
