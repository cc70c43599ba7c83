/* SPDX-License-Identifier: Apache-2.0 */
#include "report/summary.h"

gbs_status gbsi_report_give(gbs_output **memory, gbs_output *output, gbs_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    const gbs_status status = gbs_output_take(*memory, &bytes, &n, err);
    *memory = NULL;
    if (status >= 0) {
        gbsi_output_bytes(output, bytes, n);
    }
    gbs_free(bytes);
    return status;
}

static void name_of(gbs_output *output, const char *name)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
}

void gbsi_summary_real(gbs_output *output, const char *name, double value)
{
    name_of(output, name);
    gbsi_output_json_double(output, value);
}

void gbsi_summary_uint(gbs_output *output, const char *name, uint64_t value)
{
    name_of(output, name);
    gbsi_output_uint(output, value);
}

void gbsi_summary_text(gbs_output *output, const char *name, const char *text)
{
    name_of(output, name);
    if (text == NULL) {
        gbsi_output_text(output, "null");
    } else {
        gbsi_output_json_string(output, text);
    }
}

void gbsi_summary_reals(gbs_output *output, const char *name, const double *value, size_t n)
{
    name_of(output, name);
    gbsi_output_text(output, "[");
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        gbsi_output_json_double(output, value[i]);
    }
    gbsi_output_text(output, "]");
}
