/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arrays/npy.h"
#include "base/memory.h"
#include "text/output.h"

size_t gbsi_array_type_bytes(gbsi_array_type type)
{
    static const size_t bytes[] = {1, 2, 4, 8, 4, 8};
    return (unsigned)type < sizeof bytes / sizeof bytes[0] ? bytes[type] : 0;
}

size_t gbsi_array_size(const gbsi_array *array)
{
    size_t size = 1;
    if (array == NULL || array->n_dims > GBSI_ARRAY_MAX_DIMS) {
        return 0;
    }
    for (uint32_t d = 0; d < array->n_dims; d++) {
        size *= (size_t)array->shape[d];
    }
    return size;
}

double gbsi_array_value(const gbsi_array *array, size_t i)
{
    if (i >= gbsi_array_size(array) || array->data == NULL ||
        gbsi_array_type_bytes(array->type) == 0) {
        return NAN;
    }
    const char *at = (const char *)array->data + i * gbsi_array_type_bytes(array->type);
    union {
        uint8_t u1;
        uint16_t u2;
        int32_t i4;
        int64_t i8;
        float f4;
        double f8;
    } value;
    memcpy(&value, at, gbsi_array_type_bytes(array->type));
    switch (array->type) {
    case GBSI_ARRAY_U1:
        return value.u1;
    case GBSI_ARRAY_U2:
        return value.u2;
    case GBSI_ARRAY_I4:
        return value.i4;
    case GBSI_ARRAY_I8:
        return (double)value.i8;
    case GBSI_ARRAY_F4:
        return (double)value.f4;
    case GBSI_ARRAY_F8:
        break;
    }
    return value.f8;
}

void gbsi_array_free(gbsi_array *array)
{
    if (array != NULL) {
        gbsi_free(array->data);
        *array = (gbsi_array){0};
    }
}

gbs_status gbsi_npy_check(const gbsi_array *array, uint64_t *bytes, gbs_error *err)
{
    size_t product = 0;
    if ((unsigned)array->type > GBSI_ARRAY_F8 || array->n_dims > GBSI_ARRAY_MAX_DIMS) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "array: no such type, or more than %d dimensions",
                         GBSI_ARRAY_MAX_DIMS);
    }
    product = gbsi_array_type_bytes(array->type);
    for (uint32_t d = 0; d < array->n_dims; d++) {
        const uint64_t length = array->shape[d];
        if (length > SIZE_MAX || !gbsi_mul_size(product, (size_t)length, &product)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "array: its size is beyond 2^64 bytes");
        }
    }
    *bytes = product;
    return GBS_OK;
}

size_t gbsi_npy_header(const gbsi_array *array, char *bytes)
{
    static const char *const descr[] = {"|u1", "<u2", "<i4", "<i8", "<f4", "<f8"};
    const size_t n_fixed = 10; /* number of bytes of the magic, the version 1.0 and the length */
    char *text = bytes + n_fixed;
    const size_t size = GBSI_NPY_HEADER - n_fixed;
    size_t n = (size_t)snprintf(text, size, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                                descr[array->type]);
    for (uint32_t d = 0; d < array->n_dims; d++) {
        n += (size_t)snprintf(text + n, size - n, "%llu,%s", (unsigned long long)array->shape[d],
                              d + 1 < array->n_dims ? " " : "");
    }
    /* NumPy omits the last comma if there are several dimensions. Python allows a comma there. */
    if (array->n_dims > 1) {
        n--;
    }
    n += (size_t)snprintf(text + n, size - n, "), }");
    const size_t total = (n_fixed + n + 1 + 63) / 64 * 64;
    assert(total <= GBSI_NPY_HEADER);
    memset(text + n, ' ', total - n_fixed - n - 1);
    bytes[total - 1] = '\n';
    memcpy(bytes, "\x93NUMPY\x01", 8); /* the 0 at the end of the string is the minor version */
    bytes[8] = (char)((total - n_fixed) & 255);
    bytes[9] = (char)((total - n_fixed) >> 8);
    return total;
}

gbs_status gbsi_npy_put(const gbsi_array *array, gbsi_array_source *source, void *context,
                        void (*sink)(void *to, const void *bytes, size_t n), void *to,
                        gbs_error *err)
{
    const size_t piece = (size_t)1 << 18;
    uint64_t bytes = 0;
    gbs_status status = gbsi_npy_check(array, &bytes, err);
    if (status < 0 || bytes == 0) {
        return status;
    }
    if (source == NULL) {
        if (array->data == NULL) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "array: neither data nor a source is given");
        }
        sink(to, array->data, (size_t)bytes);
        return GBS_OK;
    }
    char *buffer = gbsi_alloc(piece);
    GBSI_PASS(GBSI_HAVE(err, "array", buffer));
    for (uint64_t at = 0; at < bytes && status >= 0;) {
        const size_t n = bytes - at < piece ? (size_t)(bytes - at) : piece;
        status = source(context, at, buffer, n, err);
        if (status >= 0) {
            sink(to, buffer, n);
        }
        at += n;
    }
    gbsi_free(buffer);
    return status;
}

static void put_output(void *to, const void *bytes, size_t n)
{
    gbsi_output_bytes(to, bytes, n);
}

gbs_status gbsi_npy_write(gbs_output *output, const gbsi_array *array, gbsi_array_source *source,
                          void *context, gbs_error *err)
{
    GBSI_NEED(output, array);
    char header[GBSI_NPY_HEADER];
    uint64_t bytes = 0;
    GBSI_PASS(gbsi_npy_check(array, &bytes, err));
    gbsi_output_bytes(output, header, gbsi_npy_header(array, header));
    return gbsi_npy_put(array, source, context, put_output, output, err);
}
