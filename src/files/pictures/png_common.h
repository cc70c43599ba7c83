/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that this folder hands to libpng, which reports errors by longjmp(). In reading, one
 * function calls setjmp(), and in writing, another one. Such a function only calls a second
 * function. All calls that can jump are made below the second function, and a struct owns
 * everything that must be freed. After setjmp(), no local variable of the first function changes.
 * If an allocation fails, reading or writing fails, even where libpng could continue without the
 * memory.
 */
#ifndef GBSI_PICTURES_PNG_COMMON_H
#define GBSI_PICTURES_PNG_COMMON_H

#include <png.h>
#include <stdbool.h>

#include "base/memory.h"

/* The first member of the structs that are passed to libpng in reading and in writing. */
typedef struct gbsi_png {
    const char *name;
    png_structp png;
    png_infop info;
    bool no_memory;
    size_t wanted;     /* number of bytes of the allocation that failed */
    char message[256]; /* last message of libpng before it jumped, or "" */
} gbsi_png;

void *gbsi_png_alloc(png_structp png, png_alloc_size_t n);
void gbsi_png_release(png_structp png, void *pointer);
PNG_NORETURN void gbsi_png_error(png_structp png, const char *message);

#endif
