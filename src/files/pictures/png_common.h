/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that this folder hands to libpng, which reports errors by longjmp(). Reading and
 * writing each have one function that calls setjmp(). This function calls another one, which calls
 * everything that can jump and works on a struct that owns everything to be freed. No local
 * variable of the function with the setjmp() changes after the setjmp(). gbsi_alloc() supplies all
 * memory. If an allocation fails, the reading or writing fails, even if libpng could do without the
 * memory.
 */
#ifndef GBSI_PICTURES_PNG_COMMON_H
#define GBSI_PICTURES_PNG_COMMON_H

#include <png.h>
#include <stdbool.h>

#include "base/memory.h"

/* The first member of the structs that reading and writing hand to libpng. */
typedef struct gbsi_png {
    const char *name;
    png_structp png;
    png_infop info;
    bool no_memory;
    size_t wanted;     /* number of bytes of the allocation that failed */
    char message[256]; /* last message of libpng, set when it jumped, or "" */
} gbsi_png;

void *gbsi_png_alloc(png_structp png, png_alloc_size_t n);
void gbsi_png_release(png_structp png, void *pointer);
PNG_NORETURN void gbsi_png_error(png_structp png, const char *message);

#endif
