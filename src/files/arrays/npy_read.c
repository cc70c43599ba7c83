/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "arrays/npy.h"
#include "base/budget.h"
#include "base/memory.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "data is taken as it stands in the file");

/* Header of a .npy file. */
typedef struct npy_header {
    gbsi_array array; /* array with a type and a shape, but without data */
    bool fortran;
    bool has_descr, has_order, has_shape;
} npy_header;

/* The text of the header's Python literal, with the position `at` of the reader. Positions in
 * messages are counted in bytes from the beginning of the file. */
typedef struct literal {
    const char *name;
    const char *begin;
    const char *at;
    const char *end;
} literal;

static gbs_status unexpected(const literal *text, const char *expected, gbs_error *err)
{
    const size_t left = (size_t)(text->end - text->at);
    if (left == 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the header, expected %s", text->name,
                         (size_t)(text->at - text->begin), expected);
    }
    return gbsi_fail(err, GBS_ERR_FORMAT, "%s: byte %zu: found '%c', expected %s", text->name,
                     (size_t)(text->at - text->begin),
                     *text->at >= ' ' && *text->at <= '~' ? *text->at : '?', expected);
}

static void skip_blanks(literal *text)
{
    while (text->at < text->end && strchr(" \t\r\n", *text->at) != NULL && *text->at != 0) {
        text->at++;
    }
}

static bool take(literal *text, char c)
{
    skip_blanks(text);
    if (text->at < text->end && *text->at == c) {
        text->at++;
        return true;
    }
    return false;
}

/* Takes a string in single or double quotes, without escapes.
 * @param value out: the characters between the quotes, which are part of the text. */
static gbs_status take_string(literal *text, const char *expected, const char **value, size_t *n,
                              gbs_error *err)
{
    skip_blanks(text);
    const char quote = text->at < text->end ? *text->at : 0;
    if (quote != '\'' && quote != '"') {
        return unexpected(text, expected, err);
    }
    const char *begin = text->at + 1;
    const char *close = memchr(begin, quote, (size_t)(text->end - begin));
    if (close == NULL) {
        text->at = text->end;
        return unexpected(text, "a closing quote", err);
    }
    *value = begin;
    *n = (size_t)(close - begin);
    text->at = close + 1;
    return GBS_OK;
}

static gbs_status take_descr(literal *text, gbsi_array_type *type, gbs_error *err)
{
    static const char *const name[] = {"|u1", "<u2", "<i4", "<i8", "<f4", "<f8"};
    const char *value = NULL;
    size_t n = 0;
    skip_blanks(text);
    if (text->at < text->end && *text->at == '[') {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: found an array of structures, expected plain numbers", text->name);
    }
    GBSI_PASS(take_string(text, "a type in quotes", &value, &n, err));
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        if (n == strlen(name[i]) && memcmp(value, name[i], n) == 0) {
            *type = (gbsi_array_type)i;
            return GBS_OK;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (value[i] < ' ' || value[i] > '~') {
            n = i;
        }
    }
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                     "%s: found an array of type '%.*s'%s, expected |u1, <u2, <i4, <i8, <f4 or <f8",
                     text->name, n < 20 ? (int)n : 20, value,
                     n >= 2 && value[1] == 'O' ? " (Python objects)" : "");
}

static gbs_status take_bool(literal *text, bool *value, gbs_error *err)
{
    skip_blanks(text);
    const size_t left = (size_t)(text->end - text->at);
    if (left >= 4 && memcmp(text->at, "True", 4) == 0) {
        text->at += 4;
        *value = true;
        return GBS_OK;
    }
    if (left >= 5 && memcmp(text->at, "False", 5) == 0) {
        text->at += 5;
        *value = false;
        return GBS_OK;
    }
    return unexpected(text, "True or False", err);
}

static gbs_status take_length(literal *text, uint64_t *value, gbs_error *err)
{
    skip_blanks(text);
    const char *first = text->at;
    uint64_t length = 0;
    while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
        const uint64_t digit = (uint64_t)(*text->at - '0');
        if (length > (UINT64_MAX - digit) / 10) {
            return unexpected(text, "a length below 2^64", err);
        }
        length = 10 * length + digit;
        text->at++;
    }
    if (text->at == first) {
        return unexpected(text, "a length", err);
    }
    *value = length;
    return GBS_OK;
}

static gbs_status take_shape(literal *text, gbsi_array *array, gbs_error *err)
{
    if (!take(text, '(')) {
        return unexpected(text, "'('", err);
    }
    array->n_dims = 0;
    while (!take(text, ')')) {
        if (array->n_dims == GBSI_ARRAY_MAX_DIMS) {
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "%s: found an array of more than %d dimensions", text->name,
                             GBSI_ARRAY_MAX_DIMS);
        }
        GBSI_PASS(take_length(text, &array->shape[array->n_dims], err));
        array->n_dims++;
        if (!take(text, ',')) {
            if (!take(text, ')')) {
                return unexpected(text, "',' or ')'", err);
            }
            return GBS_OK;
        }
    }
    return GBS_OK;
}

static gbs_status take_field(literal *text, npy_header *header, gbs_error *err)
{
    const char *key = NULL;
    size_t n = 0;
    GBSI_PASS(take_string(text, "a key in quotes", &key, &n, err));
    if (!take(text, ':')) {
        return unexpected(text, "':'", err);
    }
    if (n == 5 && memcmp(key, "descr", n) == 0 && !header->has_descr) {
        header->has_descr = true;
        return take_descr(text, &header->array.type, err);
    }
    if (n == 13 && memcmp(key, "fortran_order", n) == 0 && !header->has_order) {
        header->has_order = true;
        return take_bool(text, &header->fortran, err);
    }
    if (n == 5 && memcmp(key, "shape", n) == 0 && !header->has_shape) {
        header->has_shape = true;
        return take_shape(text, &header->array, err);
    }
    text->at = key;
    return unexpected(text, "the keys descr, fortran_order and shape, each once", err);
    return GBS_OK;
}

static gbs_status read_literal(literal *text, npy_header *header, gbs_error *err)
{
    if (!take(text, '{')) {
        return unexpected(text, "'{'", err);
    }
    while (!take(text, '}')) {
        GBSI_PASS(take_field(text, header, err));
        if (!take(text, ',')) {
            if (!take(text, '}')) {
                return unexpected(text, "',' or '}'", err);
            }
            break;
        }
    }
    skip_blanks(text);
    if (text->at != text->end) {
        return unexpected(text, "the end of the header", err);
    }
    if (!header->has_descr || !header->has_order || !header->has_shape) {
        return unexpected(text, "the keys descr, fortran_order and shape, each once", err);
    }
    return GBS_OK;
}

/* Reads the magic, the version and the length of the literal.
 * @param text out: text of the literal. */
static gbs_status read_preamble(const char *name, const char *bytes, size_t n, literal *text,
                                gbs_error *err)
{
    if (n < 10 || memcmp(bytes, "\x93NUMPY", 6) != 0) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte 0: found no NumPy array (or one cut short), expected "
                         "\\x93NUMPY",
                         name);
    }
    const unsigned version = (unsigned char)bytes[6];
    if (version < 1 || version > 3) {
        return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                         "%s: byte 6: found version %u of the format, expected 1, 2 or 3", name,
                         version);
    }
    const size_t n_length = version == 1 ? 2 : 4;
    size_t length = 0;
    for (size_t i = 0; i < n_length && 8 + i < n; i++) {
        length |= (size_t)(unsigned char)bytes[8 + i] << 8 * i;
    }
    if (n < 8 + n_length || length > n - 8 - n_length) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found the end of the file, expected a header of %zu bytes",
                         name, n, length);
    }
    const char *begin = bytes + 8 + n_length;
    *text = (literal){.name = name, .begin = bytes, .at = begin, .end = begin + length};
    return GBS_OK;
}

/* Copies an array whose first index runs fastest to an array whose last index runs fastest. */
static void transpose(const gbsi_array *shape, size_t size, const char *from, char *to)
{
    const size_t bytes = gbsi_array_type_bytes(shape->type);
    uint64_t index[GBSI_ARRAY_MAX_DIMS] = {0};
    /* stride of each dimension in the result, in elements */
    size_t stride[GBSI_ARRAY_MAX_DIMS] = {0};
    size_t product = 1;
    for (uint32_t d = shape->n_dims; d > 0; d--) {
        stride[d - 1] = product;
        product *= (size_t)shape->shape[d - 1];
    }
    size_t place = 0;
    for (size_t i = 0; i < size; i++) {
        memcpy(to + place * bytes, from + i * bytes, bytes);
        for (uint32_t d = 0; d < shape->n_dims; d++) {
            place += stride[d];
            if (++index[d] < shape->shape[d]) {
                break;
            }
            place -= stride[d] * (size_t)shape->shape[d];
            index[d] = 0;
        }
    }
}

gbs_status gbsi_npy_parse(const char *name, const char *bytes, size_t n, gbsi_array *array,
                          gbs_error *err)
{
    literal text = {0};
    npy_header header = {0};
    uint64_t wanted = 0;
    GBSI_PASS(read_preamble(name, bytes, n, &text, err));
    GBSI_PASS(read_literal(&text, &header, err));
    const size_t left = n - (size_t)(text.end - bytes);
    if (gbsi_npy_check(&header.array, &wanted, NULL) < 0 || wanted != left) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s: byte %zu: found %zu bytes of data, expected as many as the shape in "
                         "the header needs",
                         name, (size_t)(text.end - bytes), left);
    }
    header.array.data = gbsi_alloc(left);
    GBSI_PASS(GBSI_HAVE(err, name, header.array.data));
    if (header.fortran && header.array.n_dims > 1) {
        transpose(&header.array, gbsi_array_size(&header.array), text.end, header.array.data);
    } else {
        memcpy(header.array.data, text.end, left);
    }
    *array = header.array;
    return GBS_OK;
}

gbs_status gbsi_npy_read(const char *path, gbsi_array *array, gbs_error *err)
{
    GBSI_NEED(path, array);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbsi_input_read(path, &input, err));
    status = gbsi_npy_parse(input.name, input.bytes, input.n, array, err);

cleanup:
    gbsi_input_free(&input);
    gbsi_budget_leave(before);
    return status;
}
