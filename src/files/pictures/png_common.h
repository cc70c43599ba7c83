/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How this folder calls libpng, which reports errors by longjmp(). Everything that can jump is
 * called from one function of each direction, below one setjmp(), on a struct that owns all there
 * is to free. No local of the function with the setjmp() changes after the setjmp(). Memory is
 * asked for from gbsi_alloc(), and a request that fails is a failure even where libpng would do
 * without it.
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
    size_t wanted;     /* bytes that there were no memory for */
    char message[256]; /* the last message of libpng, set as it jumped, or "" */
} gbsi_png;

void *gbsi_png_alloc(png_structp png, png_alloc_size_t n);
void gbsi_png_release(png_structp png, void *pointer);
PNG_NORETURN void gbsi_png_error(png_structp png, const char *message);

#endif
