/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#ifdef GBSI_HAVE_PNG
#include <stdio.h>

#include "pictures/png_common.h"

void *gbsi_png_alloc(png_structp png, png_alloc_size_t n)
{
    gbsi_png *p = png_get_mem_ptr(png);
    void *pointer = gbsi_alloc_zero(n); /* zlib compares bytes that it has not written */
    if (pointer == NULL) {
        p->no_memory = true;
        p->wanted = n;
    }
    return pointer;
}

void gbsi_png_release(png_structp png, void *pointer)
{
    (void)png;
    gbsi_free(pointer);
}

void gbsi_png_error(png_structp png, const char *message)
{
    gbsi_png *p = png_get_error_ptr(png);
    (void)snprintf(p->message, sizeof p->message, "%s", message);
    png_longjmp(png, 1);
}

#else
typedef int gbsi_no_png; /* without libpng this file would be empty, which C forbids */
#endif
