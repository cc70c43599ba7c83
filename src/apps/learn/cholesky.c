/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/equations.h"

#include "simd/math.h"

bool gbsi_cholesky(const double *a, size_t n, double more, double pivot, double *root,
                   gbsi_watch *watch)
{
    for (size_t i = 0; i < n; ++i) {
        double *row = root + i * n;
        if (gbsi_watch_spend(watch, n * i / 2 + n)) {
            return false;
        }
        for (size_t j = 0; j <= i; ++j) {
            const double *other = root + j * n;
            double sum = a[i * n + j] + (i == j ? more : 0.0);
            for (size_t k = 0; k < j; ++k) {
                sum -= row[k] * other[k];
            }
            if (i == j && !(sum > pivot * (a[i * n + i] + more))) {
                return false;
            }
            row[j] = i == j ? gbsi_sqrt(sum) : sum / other[j];
        }
    }
    return true;
}

void gbsi_cholesky_solve(const double *root, size_t n, double *x)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t k = 0; k < i; ++k) {
            x[i] -= root[i * n + k] * x[k];
        }
        x[i] /= root[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        x[i] /= root[i * n + i];
        for (size_t k = 0; k < i; ++k) {
            x[k] -= root[i * n + k] * x[i];
        }
    }
}
