/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion from decimal to binary and back, correctly rounded and independent of the locale. */
#ifndef GBSI_DECIMAL_DECIMAL_H
#define GBSI_DECIMAL_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- bignum.c ------------------------------------------------------------------------------ */

/* Natural numbers of up to 4608 bits, for exact conversion between decimal and binary. The largest
 * such number has 3868 bits: it is 10^1145 shifted by 64, for a subnormal written with 801 digits.
 */

#define GBSI_BIG_LIMBS 144u

typedef struct gbsi_big {
    uint32_t n;                    /* number of limbs in use; the topmost limb in use is not 0 */
    uint32_t limb[GBSI_BIG_LIMBS]; /* limbs, the least significant first */
} gbsi_big;

void gbsi_big_set(gbsi_big *a, uint64_t value);
void gbsi_big_multiply_add(gbsi_big *a, uint32_t factor,
                           uint32_t summand); /* computes a = a*factor + summand */
void gbsi_big_multiply_pow10(gbsi_big *a, uint32_t exponent);
void gbsi_big_shift_left(gbsi_big *a, uint32_t bits);
void gbsi_big_add(gbsi_big *a, const gbsi_big *b);
void gbsi_big_subtract(gbsi_big *a, const gbsi_big *b);     /* requires b <= a */
int gbsi_big_compare(const gbsi_big *a, const gbsi_big *b); /* returns the sign of a - b */
uint32_t gbsi_big_bits(const gbsi_big *a);                  /* number of bits; 0 for zero */

/* ---- decimal_read.c, decimal_write.c ------------------------------------------------------- */

typedef enum gbsi_decimal_status {
    GBSI_DECIMAL_OK,
    GBSI_DECIMAL_UNDERFLOW, /* the number is not zero but rounds to zero; the value is 0 with the
                               sign of the text */
    GBSI_DECIMAL_OVERFLOW,  /* the text is a finite number above the largest double; the value is
                               infinite */
    GBSI_DECIMAL_BAD,       /* the text as a whole is not a number; there is no value */
} gbsi_decimal_status;

/* Reads a number from all n bytes of the text. The syntax is [+-] digits [. digits] [e [+-]
 * digits], with digits on at least one side of the point, or inf, infinity, nan in small or capital
 * letters. The value is rounded correctly, however many digits the text has. */
gbsi_decimal_status gbsi_decimal_read(const char *text, size_t n, double *value);

/* Reads the number that begins at `at` if the number has a common form and is followed by a blank.
 * The text must go on for at least as many bytes as a common form can have. The function gives the
 * same values as gbsi_decimal_read().
 * @return the address of the blank. If the result is NULL, *value is unchanged, and the caller must
 * find the end of the number and read it with gbsi_decimal_read(). */
const char *gbsi_decimal_scan(const char *at, const char *end, double *value);
const char *gbsi_integer_scan(const char *at, const char *end, uint64_t *value);

/* Returns digits * 10^exponent10, rounded to the nearest double, which may be 0 or infinity. @param
 * digits below 10^19. */
double gbsi_decimal_value(uint64_t digits, int exponent10);

/* Reads all n bytes of the text as an unsigned integer; a leading + is allowed. @param too_large
 * out, on failure: true if the text is a number above max, false if it is not an integer. @return
 * whether the text is an integer up to max. */
bool gbsi_integer_read(const char *text, size_t n, uint64_t max, uint64_t *value, bool *too_large);

/* A decimal number: 0.d_1 d_2 ... d_n * 10^exponent, where d_1 and d_n are not 0. */
typedef struct gbsi_digits {
    char digit[17]; /* each digit is '0' to '9' */
    int n;
    int exponent;
} gbsi_digits;

/* Finds the shortest decimal that reads back as `value`; among several decimals of this length,
 * finds the closest to `value`. @param value finite and positive. */
void gbsi_digits_shortest(double value, gbsi_digits *digits);

/* Returns the digits of a decimal as an integer; *exponent10 becomes the exponent of the last
 * digit. */
uint64_t gbsi_digits_integer(const gbsi_digits *digits, int *exponent10);

/* Writes a decimal as text, without a 0 byte at the end. @param text [32]. @return the length. */
size_t gbsi_digits_write(const gbsi_digits *digits, bool negative, char *text);

/* Writes the shortest decimal that reads back to the same double, or "inf", "-inf", "nan".
 * @param text [32], out. @return its length. */
size_t gbsi_format_double(double value, char *text);

#endif
