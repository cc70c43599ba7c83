/* SPDX-License-Identifier: Apache-2.0 */
/* Reads members of a summary, and writes text, numbers and figures of the page. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart/chart_pen.h"
#include "decimal/decimal.h"
#include "report/page.h"
#include "simd/math.h"

#define MOST_DRAWN 1e15 /* largest number that can be drawn */

/* ---- reading --------------------------------------------------------------------------------- */

void gbsi_page_refuse(gbsi_page *page, const gbsi_json *value, const char *expected)
{
    if (page->status >= 0) {
        page->status = gbsi_json_unexpected(page->file, value, expected, page->err);
    }
}

static const gbsi_json *member(gbsi_page *page, const gbsi_json *of, const char *name,
                               gbsi_json_kind kind, const char *expected)
{
    const gbsi_json *m = gbsi_json_member(of, name);
    if (m == NULL || m->kind == GBSI_JSON_NULL) {
        return NULL;
    }
    if (m->kind != kind) {
        gbsi_page_refuse(page, m, expected);
        return NULL;
    }
    return m;
}

const gbsi_json *gbsi_page_object(gbsi_page *page, const gbsi_json *of, const char *name)
{
    return member(page, of, name, GBSI_JSON_OBJECT, "an object or null");
}

const gbsi_json *gbsi_page_array(gbsi_page *page, const gbsi_json *of, const char *name)
{
    return member(page, of, name, GBSI_JSON_ARRAY, "an array or null");
}

const char *gbsi_page_string(gbsi_page *page, const gbsi_json *of, const char *name)
{
    const gbsi_json *m = member(page, of, name, GBSI_JSON_STRING, "a string or null");
    return m == NULL ? NULL : m->text;
}

const char *gbsi_page_digits(gbsi_page *page, const gbsi_json *of, const char *name)
{
    const gbsi_json *m = member(page, of, name, GBSI_JSON_NUMBER, "a number or null");
    return m == NULL ? NULL : m->text;
}

double gbsi_page_real(gbsi_page *page, const gbsi_json *of, const char *name)
{
    const gbsi_json *m = member(page, of, name, GBSI_JSON_NUMBER, "a number or null");
    return m == NULL ? (double)NAN : m->number;
}

bool gbsi_page_is(gbsi_page *page, const gbsi_json *of, const char *name)
{
    const gbsi_json *m = gbsi_json_member(of, name);
    if (m == NULL || m->kind == GBSI_JSON_NULL || m->kind == GBSI_JSON_FALSE) {
        return false;
    }
    if (m->kind != GBSI_JSON_TRUE) {
        gbsi_page_refuse(page, m, "true, false or null");
    }
    return true;
}

size_t gbsi_page_reals(gbsi_page *page, const gbsi_json *array, double *value, size_t n)
{
    size_t i = 0;
    for (const gbsi_json *e = gbsi_json_first(array); e != NULL && i < n;
         e = gbsi_json_next(array, e)) {
        if (e->kind != GBSI_JSON_NUMBER && e->kind != GBSI_JSON_NULL) {
            gbsi_page_refuse(page, e, "a number or null");
        }
        const bool drawn = e->kind == GBSI_JSON_NUMBER && fabs(e->number) < MOST_DRAWN;
        value[i++] = drawn ? e->number : (double)NAN;
    }
    return i;
}

/* ---- writing --------------------------------------------------------------------------------- */

void gbsi_page_put(gbsi_page *page, const char *html)
{
    gbsi_output_text(page->out, html);
}

void gbsi_page_text(gbsi_page *page, const char *text)
{
    gbsi_put_escaped(page->out, text);
}

static double power_of_ten(int e)
{
    double p = 1.0;
    for (; e > 0; e--) {
        p *= 10.0;
    }
    return p;
}

const char *gbsi_page_number_text(double value, int digits, char text[48])
{
    if (!isfinite(value)) {
        (void)snprintf(text, 48, "–");
        return text;
    }
    const double size = fabs(value);
    const int e = size > 0.0 ? (int)gbsi_chart_floor(gbsi_log10(size) + 1e-12) : 0;
    const int places = digits - 1 - e; /* digits behind the decimal point */
    if (e >= 9 && e <= 300) {
        const double scaled = size / (power_of_ten(e - 2)) + 0.5;
        (void)snprintf(text, 48, "%s%u.%02ue%d", value < 0.0 ? "−" : "", (unsigned)scaled / 100,
                       (unsigned)scaled % 100, e);
        return text;
    }
    double rounded = value;
    if (places > 0 && places < 300) {
        /* a quotient of whole numbers, whose shortest decimal is short */
        rounded = size * power_of_ten(places > 22 ? 22 : places) + 0.5;
        rounded = places <= 22 && rounded < 1e15 ? gbsi_chart_floor(rounded) / power_of_ten(places)
                                                 : size;
        rounded = value < 0.0 ? -rounded : rounded;
    } else if (places <= 0 && size < 1e15) {
        rounded = gbsi_chart_floor(value + 0.5); /* all digits of a whole number are shown */
    }
    text[gbsi_format_double(rounded, text)] = '\0';
    return text;
}

void gbsi_page_number(gbsi_page *page, double value, int digits)
{
    char text[48];
    const char *written = gbsi_page_number_text(value, digits, text);
    if (strspn(written, "0123456789") == strlen(written)) {
        gbsi_page_count(page, written);
    } else {
        gbsi_output_text(page->out, written);
    }
}

const char *gbsi_page_fixed_text(double value, int decimals, char text[48])
{
    const double scale = power_of_ten(decimals);
    if (!(fabs(value) < 1e9)) {
        return gbsi_page_number_text(value, 6, text);
    }
    const unsigned long long n = (unsigned long long)(fabs(value) * scale + 0.5);
    const unsigned long long whole = (unsigned long long)scale;
    (void)snprintf(text, 48, "%s%llu.%0*llu", value < 0.0 && n > 0 ? "−" : "", n / whole, decimals,
                   n % whole);
    return text;
}

void gbsi_page_fixed(gbsi_page *page, double value, int decimals)
{
    char text[48];
    gbsi_output_text(page->out, gbsi_page_fixed_text(value, decimals, text));
}

void gbsi_page_count(gbsi_page *page, const char *digits)
{
    const size_t n = digits == NULL ? 0 : strlen(digits);
    if (n == 0) {
        gbsi_output_text(page->out, "–");
        return;
    }
    const bool whole = strspn(digits, "0123456789") == n;
    for (size_t i = 0; i < n; i++) {
        if (whole && i > 0 && (n - i) % 3 == 0 && n > 4) {
            gbsi_output_text(page->out, "\xe2\x80\xaf"); /* a narrow no-break space */
        }
        gbsi_output_bytes(page->out, digits + i, 1);
    }
}

void gbsi_page_term(gbsi_page *page, const char *term)
{
    gbsi_put(page->out, "<div><dt>%s</dt><dd>", term);
}

void gbsi_page_fact(gbsi_page *page, const char *term, const char *text)
{
    if (text != NULL) {
        gbsi_page_term(page, term);
        gbsi_page_text(page, text);
        gbsi_page_put(page, "</dd></div>\n");
    }
}

void gbsi_page_fact_count(gbsi_page *page, const char *term, const char *digits)
{
    if (digits != NULL) {
        gbsi_page_term(page, term);
        gbsi_page_count(page, digits);
        gbsi_page_put(page, "</dd></div>\n");
    }
}

void gbsi_page_fact_real(gbsi_page *page, const char *term, double value)
{
    if (isfinite(value)) {
        gbsi_page_term(page, term);
        gbsi_page_number(page, value, 4);
        gbsi_page_put(page, "</dd></div>\n");
    }
}

const char *gbsi_page_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

void gbsi_page_evidence(gbsi_page *page, const gbsi_json *options)
{
    const gbsi_json *evidence = gbsi_page_array(page, options, "evidence");
    gbsi_page_put(page, evidence == NULL || evidence->n == 0 ? "none" : "");
    for (const gbsi_json *e = gbsi_json_first(evidence); e != NULL;
         e = gbsi_json_next(evidence, e)) {
        gbsi_page_put(page, e == evidence + 1 ? "" : ", ");
        gbsi_page_text(page, e->kind == GBSI_JSON_STRING ? e->text : "");
    }
}

void gbsi_page_figure(gbsi_page *page, gbsi_figure *figure, const char *caption)
{
    char id[24];
    (void)snprintf(id, sizeof id, "f%u", ++page->n_figures);
    figure->id = id;
    gbsi_page_put(page, "<figure>\n");
    const gbs_status status = gbsi_figure_text(figure, page->out, page->err);
    if (status < 0 && page->status >= 0) {
        page->status = status;
    }
    gbsi_page_put(page, "<figcaption>");
    gbsi_page_text(page, caption);
    gbsi_page_put(page, "</figcaption>\n</figure>\n");
    figure->id = NULL;
}
