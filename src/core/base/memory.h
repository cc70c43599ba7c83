/* SPDX-License-Identifier: Apache-2.0 */
/* All memory of the library comes from here, so that a test can make the n-th request fail. */
#ifndef GBSI_BASE_MEMORY_H
#define GBSI_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/* NULL if memory is used up, or if the size exceeds a size_t. A request of 0 bytes gives a pointer
 * that may be freed. */
void *gbsi_alloc(uint64_t wanted);
void *gbsi_alloc_zero(uint64_t wanted);
/* n elements of the given size, NULL also when the product overflows. */
void *gbsi_alloc_array(uint64_t n, uint64_t size);
void *gbsi_alloc_array_zero(uint64_t n, uint64_t size);
void *gbsi_realloc_array(void *pointer, uint64_t n, uint64_t size);
/* Aligned to 64 bytes (a cache line, a row of 16 lanes), zeroed, 64 bytes of slack at the end so
 * that a vector load of the last element stays inside. Freed by gbsi_free() as well. */
void *gbsi_alloc_lanes(uint64_t n, uint64_t size);
void gbsi_free(void *pointer);
/* gbsi_free() of each of the pointers, in their order. */
#define GBSI_FREE(...)                                                    \
    gbsi_free_each(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *), \
                   (void *const[]){__VA_ARGS__})
void gbsi_free_each(size_t n, void *const pointer[]);

/* a*b into *product, a+b into *sum; false when it does not fit. */
bool gbsi_mul_size(uint64_t a, uint64_t b, size_t *product);
bool gbsi_add_size(size_t a, size_t b, size_t *sum);

/* One array of an object. From a list of such arrays, the functions below compute the size of the
 * object, allocate the object and free it. */
typedef struct gbsi_room {
    void *pointer;                      /* address of the pointer to it */
    uint64_t n, size;                   /* elements, bytes of one */
    void *(*alloc)(uint64_t, uint64_t); /* gbsi_alloc_array() or another of its kind */
} gbsi_room;
#define GBSI_ROOM(pointer, n, alloc) ((gbsi_room){&(pointer), (n), sizeof *(pointer), (alloc)})
/* The bytes of all listed arrays, without slack; UINT64_MAX if the sum exceeds 64 bits. */
uint64_t gbsi_rooms_bytes(const gbsi_room *arrays, size_t n);
/* Allocates one array after the other. On failure the pointers of the remaining arrays are
 * unchanged: if they are NULL, the object can be freed. */
gbs_status gbsi_rooms_take(const gbsi_room *arrays, size_t n, const char *what, gbs_error *err);
void gbsi_rooms_free(const gbsi_room *arrays, size_t n);
/* Gives back what growth allocated beyond the listed elements, of those arrays that exist. An array
 * that cannot be moved stays as it is. The alignment of gbsi_alloc_lanes() may be lost. */
void gbsi_rooms_shrink(const gbsi_room *arrays, size_t n);

/* "1.4 GiB", for messages. */
void gbsi_bytes_text(double bytes, char text[16]);

/* Tests only: the n-th request from now on fails (and all after it); UINT64_MAX never. */
void gbsi_alloc_fail_after(uint64_t n);

/* Grow a dynamic array to hold at least n elements (doubling). On failure the array is unchanged.
 */
gbs_status gbsi_reserve(void **pointer, size_t *capacity, uint64_t n, size_t size, const char *what,
                        gbs_error *err);

/* The message every failed request ends in: GBS_ERR_MEMORY, or GBS_ERR_LIMIT where it was the
 * memory limit of a budget (budget.h) that refused it. */
gbs_status gbsi_no_memory(gbs_error *err, const char *what, uint64_t bytes);

/* GBS_OK if none of the pointers, which gbsi_alloc*() gave to this thread just now, is NULL;
 * otherwise gbsi_no_memory() with the bytes of the request that failed. */
#define GBSI_HAVE(err, what, ...)                                                           \
    gbsi_have(err, what, sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *), \
              (const void *const[]){__VA_ARGS__})
gbs_status gbsi_have(gbs_error *err, const char *what, size_t n, const void *const pointer[]);

#endif
