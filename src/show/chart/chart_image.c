/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a picture into a chart, as a PNG in a data address. */
#include "chart/chart_pen.h"
#include "pictures/image_file.h"

/* Base64, RFC 4648, section 4. */
void gbsi_put_base64(gbs_output *output, const unsigned char *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const unsigned b1 = i + 1 < n ? bytes[i + 1] : 0;
        const unsigned b2 = i + 2 < n ? bytes[i + 2] : 0;
        const unsigned word = (unsigned)bytes[i] << 16 | b1 << 8 | b2;
        char four[4] = {digit[word >> 18], digit[word >> 12 & 63], '=', '='};
        if (i + 1 < n) {
            four[2] = digit[word >> 6 & 63];
        }
        if (i + 2 < n) {
            four[3] = digit[word & 63];
        }
        gbsi_output_bytes(output, four, 4);
    }
}

gbs_status gbsi_panel_image(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *memory = NULL;
    char *bytes = NULL;
    size_t n = 0;
    GBSI_TRY(gbs_output_open_memory(&memory, err));
    GBSI_TRY(gbsi_png_write(panel->image, "picture of a chart", memory, err));
    status = gbs_output_take(memory, &bytes, &n, err);
    memory = NULL;
    if (status < 0) {
        goto cleanup;
    }
    gbsi_put(output,
             "<image x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" xlink:href=\"data:image/png;"
             "base64,",
             N(box->left), N(box->top), N(box->right - box->left), N(box->bottom - box->top));
    gbsi_put_base64(output, (const unsigned char *)bytes, n);
    gbsi_output_text(output, "\"/>\n");
cleanup:
    gbs_output_discard(memory);
    gbs_free(bytes);
    return status;
}
