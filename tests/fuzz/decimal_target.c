/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, against the C library: any input as a decimal, and its first bytes as a double. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "decimal/decimal.h"
#include "fuzz.h"

enum { MOST = 4096 };

/* Whether a text has only letters of decimals: strtod takes more, such as hexadecimal. */
static bool may_be_decimal(const char *text)
{
    return text[strspn(text, "0123456789.eE+-")] == 0 && text[0] != 0;
}

/* Whether two numbers have the same bits: zeros of different signs differ. */
static bool same_bits(double a, double b)
{
    uint64_t bits_a = 0;
    uint64_t bits_b = 0;
    memcpy(&bits_a, &a, sizeof a);
    memcpy(&bits_b, &b, sizeof b);
    return bits_a == bits_b;
}

static void check_read(const uint8_t *data, size_t size)
{
    char text[MOST + 1];
    char *end = NULL;
    double value = 0;
    memcpy(text, data, size);
    text[size] = 0;
    gbsi_decimal_status status = gbsi_decimal_read((const char *)data, size, &value);
    if (!may_be_decimal(text) || strlen(text) != size) {
        FUZZ_REQUIRE(status == GBSI_DECIMAL_BAD || isinf(value) || isnan(value));
        return;
    }
    double expected = strtod(text, &end);
    FUZZ_REQUIRE((status != GBSI_DECIMAL_BAD) == (*end == 0));
    if (*end == 0) {
        FUZZ_REQUIRE(same_bits(value, expected));
        FUZZ_REQUIRE((status == GBSI_DECIMAL_OVERFLOW) == (isinf(expected) != 0));
        FUZZ_REQUIRE(status != GBSI_DECIMAL_UNDERFLOW || expected == 0);
    }
}

static void check_write(const uint8_t *data)
{
    char text[32];
    double value = 0;
    double back = 0;
    memcpy(&value, data, sizeof value);
    size_t n = gbsi_format_double(value, text);
    FUZZ_REQUIRE(n > 0 && n < sizeof text);
    FUZZ_REQUIRE(gbsi_decimal_read(text, n, &back) != GBSI_DECIMAL_BAD);
    FUZZ_REQUIRE(isnan(value) ? isnan(back) : same_bits(value, back));
    if (!isnan(value)) {
        back = strtod(text, NULL);
        FUZZ_REQUIRE(same_bits(value, back));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= MOST) {
        check_read(data, size);
    }
    if (size >= sizeof(double)) {
        check_write(data);
    }
    return 0;
}
