/* SPDX-License-Identifier: Apache-2.0 */
/* |F(x)|^2 is the Fourier transform of the autocovariances of x, if zeros are appended to x so that
 * its ends do not overlap (Wiener-Khinchin). The transform is the fast Fourier transform of Cooley
 * & Tukey (1965), of length 2^k. */
#include "autocovariance.h"

#include <string.h>

#include "base/memory.h"
#include "simd/math.h"

/* Computes cos and sin of 2 pi k / length. If k is a power of two, the angle pi is halved
 * repeatedly; for other k, the roots of at most log2(length) powers of two are multiplied. */
static void fill_roots(gbsi_autocovariance *a)
{
    const size_t half = a->length / 2;
    double c = -1.0; /* cosine of pi */
    double s = 0.0;
    a->cosine[0] = 1.0;
    a->sine[0] = 0.0;
    for (size_t k = half / 2; k > 0; k /= 2) { /* root k has the angle pi k / half */
        const double wide = c;
        c = gbsi_sqrt(0.5 * (1.0 + wide));
        s = wide == -1.0 ? 1.0 : s / (2.0 * c);
        a->cosine[k] = c;
        a->sine[k] = s;
    }
    for (size_t top = 1; top < half; top *= 2) {
        for (size_t k = 1; k < top; ++k) {
            a->cosine[top + k] = a->cosine[top] * a->cosine[k] - a->sine[top] * a->sine[k];
            a->sine[top + k] = a->sine[top] * a->cosine[k] + a->cosine[top] * a->sine[k];
        }
    }
}

int gbsi_autocovariance_begin(gbsi_autocovariance *a, size_t n)
{
    size_t length = 2;
    while (length < 2 * n) {
        length *= 2;
    }
    *a = (gbsi_autocovariance){.n = n,
                               .length = length,
                               .cosine = gbsi_alloc_array(length / 2, sizeof(double)),
                               .sine = gbsi_alloc_array(length / 2, sizeof(double)),
                               .re = gbsi_alloc_array(length, sizeof(double)),
                               .im = gbsi_alloc_array(length, sizeof(double))};
    if (a->cosine == NULL || a->sine == NULL || a->re == NULL || a->im == NULL) {
        return 0;
    }
    fill_roots(a);
    return 1;
}

void gbsi_autocovariance_end(gbsi_autocovariance *a)
{
    GBSI_FREE(a->cosine, a->sine, a->re, a->im);
    *a = (gbsi_autocovariance){0};
}

static void swap(double *x, size_t i, size_t j)
{
    const double kept = x[i];
    x[i] = x[j];
    x[j] = kept;
}

/* Moves entry k to the index whose bits are the bits of k in reverse order. */
static void reverse_bits(gbsi_autocovariance *a)
{
    size_t j = 0;
    for (size_t i = 1; i < a->length; ++i) {
        size_t bit = a->length / 2;
        for (; (j & bit) != 0; bit /= 2) {
            j ^= bit;
        }
        j ^= bit;
        if (i < j) {
            swap(a->re, i, j);
            swap(a->im, i, j);
        }
    }
}

/* Transforms in place: X_k = sum_j x_j exp(-2 pi i j k / length). */
static void transform(gbsi_autocovariance *a)
{
    reverse_bits(a);
    for (size_t half = 1; half < a->length; half *= 2) {
        const size_t step = a->length / (2 * half);
        for (size_t first = 0; first < a->length; first += 2 * half) {
            for (size_t k = 0; k < half; ++k) {
                const size_t i = first + k;
                const size_t j = i + half;
                const double c = a->cosine[k * step];
                const double s = a->sine[k * step];
                const double re = a->re[j] * c + a->im[j] * s;
                const double im = a->im[j] * c - a->re[j] * s;
                a->re[j] = a->re[i] - re;
                a->im[j] = a->im[i] - im;
                a->re[i] += re;
                a->im[i] += im;
            }
        }
    }
}

void gbsi_autocovariance_add(gbsi_autocovariance *a, const double *x, double *sum)
{
    double mean = 0.0;
    for (size_t i = 0; i < a->n; ++i) {
        mean += (x[i] - x[0]) / (double)a->n;
    }
    mean += x[0];
    memset(a->re, 0, a->length * sizeof *a->re);
    memset(a->im, 0, a->length * sizeof *a->im);
    for (size_t i = 0; i < a->n; ++i) {
        a->re[i] = x[i] - mean;
    }
    transform(a);
    for (size_t k = 0; k < a->length; ++k) {
        a->re[k] = a->re[k] * a->re[k] + a->im[k] * a->im[k];
        a->im[k] = 0.0;
    }
    transform(a); /* the series is real and even: the forward transform is the inverse transform
                     times the length */
    for (size_t t = 0; t < a->n; ++t) {
        sum[t] += a->re[t] / ((double)a->length * (double)a->n);
    }
}
