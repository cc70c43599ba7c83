/* SPDX-License-Identifier: Apache-2.0 */
/* Tests PNG files of every kind, made by libpng in this test, and damaged files made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "config.h"
#include "pictures/image_file.h"
#include "pictures/test_images.h"

#ifdef GBSI_HAVE_PNG
#include <png.h>

typedef struct bytes {
    char at[1 << 14];
    size_t n;
} bytes;

static void put(png_structp png, png_bytep from, size_t n)
{
    bytes *file = png_get_io_ptr(png);
    assert_true(file->n + n <= sizeof file->at);
    memcpy(file->at + file->n, from, n);
    file->n += n;
}

static void put_nothing(png_structp png)
{
    (void)png;
}

enum { W = 7, H = 6 };

/* @return sample c of the pixel in column x and row y of a file with `depth` bits. */
static uint32_t value_of(uint32_t x, uint32_t y, uint32_t c, int depth)
{
    return (x * 37 + y * 101 + c * 53 + x * y * (c + 1) * 991) & ((1u << depth) - 1);
}

static uint32_t n_samples_of(int type)
{
    static const uint32_t n[] = {1, 0, 3, 1, 2, 0, 4};
    return n[type];
}

typedef struct recipe {
    int type, depth, interlace;
    bool transparent; /* the file has a tRNS chunk */
    bool chatty;      /* the file has chunks that must be ignored */
} recipe;

/* Makes a PNG file. libpng's own error handler would end the test. */
static void make_png(const recipe *r, bytes *file)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    assert_non_null(info);
    file->n = 0;
    png_set_write_fn(png, file, put, put_nothing);
    png_set_IHDR(png, info, W, H, r->depth, r->type,
                 r->interlace ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    uint32_t n_colors = r->type == PNG_COLOR_TYPE_PALETTE ? 1u << r->depth : 0;
    png_color palette[256];
    png_byte alpha[2] = {0, 77};
    png_color_16 key = {.gray = (png_uint_16)value_of(2, 1, 0, r->depth),
                        .red = (png_uint_16)value_of(2, 1, 0, r->depth),
                        .green = (png_uint_16)value_of(2, 1, 1, r->depth),
                        .blue = (png_uint_16)value_of(2, 1, 2, r->depth)};
    for (uint32_t i = 0; i < n_colors; i++) {
        palette[i] = (png_color){(png_byte)i, (png_byte)(255 - i), (png_byte)(i * 7)};
    }
    if (n_colors > 0) {
        png_set_PLTE(png, info, palette, (int)n_colors);
    }
    if (r->transparent) {
        png_set_tRNS(png, info, alpha, n_colors > 0 ? 2 : 0, &key);
    }
    if (r->chatty) {
        png_text text = {.compression = PNG_TEXT_COMPRESSION_zTXt,
                         .key = (char[]){"Comment"},
                         .text = (char[]){"a text that is of no interest"}};
        png_set_gAMA(png, info, 0.45455);
        png_set_text(png, info, &text, 1);
        png_set_sRGB(png, info, 0);
    }
    png_write_info(png, info);
    png_set_packing(png);
    int n_passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < n_passes; pass++) {
        for (uint32_t y = 0; y < H; y++) {
            png_byte row[W * 8];
            size_t n = 0;
            for (uint32_t x = 0; x < W; x++) {
                for (uint32_t c = 0; c < n_samples_of(r->type); c++) {
                    uint32_t value = value_of(x, y, c, r->depth);
                    if (r->depth == 16) {
                        row[n++] = (png_byte)(value >> 8);
                    }
                    row[n++] = (png_byte)value;
                }
            }
            png_write_row(png, row);
        }
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

static const int kinds[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                               {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
#define N_KINDS (sizeof kinds / sizeof kinds[0])

static void expect_samples(const gbs_image *image, int type, int depth)
{
    bool palette = type == PNG_COLOR_TYPE_PALETTE;
    bool color = !palette && (type & PNG_COLOR_MASK_COLOR) != 0;
    assert_int_equal(image->kind, palette ? GBS_IMAGE_PALETTE
                                  : color ? GBS_IMAGE_COLOR
                                          : GBS_IMAGE_GREY);
    assert_int_equal(image->width, W);
    assert_int_equal(image->height, H);
    assert_int_equal(image->channels, color ? 3 : 1);
    assert_int_equal(image->maxval, palette ? 255 : (1 << depth) - 1);
    assert_int_equal(image->n_colors, palette ? 1 << depth : 0);
    for (uint32_t i = 0; i < image->n_colors; i++) {
        assert_int_equal(image->color[i][0], i);
        assert_int_equal(image->color[i][1], 255 - i);
        assert_int_equal(image->color[i][2], (uint8_t)(7 * i));
    }
    for (uint32_t y = 0; y < H; y++) {
        for (uint32_t x = 0; x < W; x++) {
            for (uint32_t c = 0; c < image->channels; c++) {
                assert_int_equal(image->sample[(y * W + x) * image->channels + c],
                                 value_of(x, y, c, depth));
            }
        }
    }
}

static void every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++) {
        for (int interlace = 0; interlace < 2; interlace++) {
            bytes file;
            warnings warned = {0};
            gbs_error err = {0};
            gbs_image image;
            const gbs_image_read_options options = {.warn = take_warning, .context = &warned};
            const recipe r = {kinds[i][0], kinds[i][1], interlace, false, true};
            make_png(&r, &file);
            assert_true(gbsi_is_image(&(gbsi_input){.bytes = file.at, .n = file.n}));
            if (read_image_bytes(file.at, file.n, &options, &image, &err) != GBS_OK) {
                fail_msg("%s", err.message);
            }
            expect_samples(&image, r.type, r.depth);
            assert_null(image.hidden);
            bool has_alpha = (r.type & PNG_COLOR_MASK_ALPHA) != 0;
            assert_int_equal(warned.n, has_alpha);
            if (has_alpha) {
                assert_int_equal(strncmp(warned.last, "x: dropped the transparency of ", 31), 0);
            }
            gbs_image_free(&image);
        }
    }
}

/* @return the opacity of a pixel, as a fraction of 255 or 65535. */
static uint32_t opacity_of(const recipe *r, uint32_t x, uint32_t y)
{
    uint32_t value = value_of(x, y, 0, r->depth);
    if ((r->type & PNG_COLOR_MASK_ALPHA) != 0) {
        return value_of(x, y, n_samples_of(r->type) - 1, r->depth);
    }
    if (r->type == PNG_COLOR_TYPE_PALETTE) {
        return value == 0 ? 0 : value == 1 ? 77 : 255;
    }
    for (uint32_t c = 0; c < n_samples_of(r->type); c++) {
        if (value_of(x, y, c, r->depth) != value_of(2, 1, c, r->depth)) {
            return 255;
        }
    }
    return 0;
}

static void transparency(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++) {
        bytes file;
        warnings warned = {0};
        gbs_error err = {0};
        gbs_image image;
        gbs_image_read_options options = {
            .keep_hidden = 1, .warn = take_warning, .context = &warned};
        recipe r = {kinds[i][0], kinds[i][1], 0, false, false};
        r.transparent = (r.type & PNG_COLOR_MASK_ALPHA) == 0;
        make_png(&r, &file);
        assert_int_equal(read_image_bytes(file.at, file.n, &options, &image, &err), GBS_OK);
        expect_samples(&image, r.type, r.depth);
        size_t n_partial = 0;
        size_t n_hidden = 0;
        for (uint32_t y = 0; y < H; y++) {
            for (uint32_t x = 0; x < W; x++) {
                uint32_t seen = opacity_of(&r, x, y);
                assert_int_equal(image.hidden != NULL && image.hidden[y * W + x], seen == 0);
                n_hidden += seen == 0;
                n_partial += seen > 0 && seen < (r.depth == 16 ? 65535u : 255u) && seen != 255;
            }
        }
        assert_true((image.hidden != NULL) == (n_hidden > 0));
        gbs_image_free(&image);
        if (r.depth < 16) {
            assert_int_equal(warned.n, n_partial > 0);
            char expected[64];
            (void)snprintf(expected, sizeof expected, "x: dropped the transparency of %zu pixels",
                           n_partial);
            assert_true(n_partial == 0 || strcmp(warned.last, expected) == 0);
            /* If hidden pixels are not asked for, they are lost too. */
            options.keep_hidden = 0;
            assert_int_equal(read_image_bytes(file.at, file.n, &options, &image, &err), GBS_OK);
            assert_null(image.hidden);
            (void)snprintf(expected, sizeof expected, "x: dropped the transparency of %zu pixels",
                           n_partial + n_hidden);
            assert_true(n_partial + n_hidden == 0 || strcmp(warned.last, expected) == 0);
            gbs_image_free(&image);
        }
    }
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++) {
        bytes file;
        const recipe r = {kinds[i][0], kinds[i][1], i % 2, i % 3 == 0 && kinds[i][0] < 4, i % 2};
        make_png(&r, &file);
        for (size_t cut = 0; cut < file.n; cut++) {
            refuse_image(file.at, cut, GBS_ERR_FORMAT,
                         cut < 8 ? "found no picture" : "found the end of the file, expected");
        }
    }
}

/* A change of any byte breaks a checksum. */
static void damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_KINDS; i++) {
        bytes file;
        const recipe r = {kinds[i][0], kinds[i][1], i % 2, kinds[i][0] < 4, i % 3 == 0};
        make_png(&r, &file);
        for (size_t at = 8; at < file.n; at++) {
            gbs_image image;
            gbs_error err = {0};
            file.at[at] = (char)(file.at[at] ^ 0x15);
            gbs_status status = read_image_bytes(file.at, file.n, NULL, &image, &err);
            assert_true(status == GBS_ERR_FORMAT || status == GBS_ERR_LIMIT);
            file.at[at] = (char)(file.at[at] ^ 0x15);
        }
    }
}

/* ---- by hand ----------------------------------------------------------------------------- */

/* ISO/IEC 15948, annex D. */
static uint32_t checksum(const char *at, size_t n)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned char)at[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc & 1) != 0 ? 0xedb88320u ^ crc >> 1 : crc >> 1;
        }
    }
    return ~crc;
}

static void put_number(bytes *file, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        file->at[file->n++] = (char)(value >> shift);
    }
}

static void put_chunk(bytes *file, const char *name, const void *data, size_t n)
{
    put_number(file, (uint32_t)n);
    size_t from = file->n;
    memcpy(file->at + file->n, name, 4);
    memcpy(file->at + file->n + 4, data, n);
    file->n += 4 + n;
    put_number(file, checksum(file->at + from, 4 + n));
}

static void put_head(bytes *file, uint32_t width, uint32_t height, int depth, int type)
{
    bytes head = {.n = 0};
    put_number(&head, width);
    put_number(&head, height);
    head.at[head.n++] = (char)depth;
    head.at[head.n++] = (char)type;
    memcpy(head.at + head.n, "\0\0", 3); /* deflate, adaptive filters, not interlaced */
    memcpy(file->at, "\x89PNG\r\n\x1a\n", 8);
    file->n = 8;
    put_chunk(file, "IHDR", head.at, 13);
}

/* Puts a zlib stream of stored bytes: RFC 1950 and RFC 1951, section 3.2.4. */
static void put_stored(bytes *file, const char *data, size_t n)
{
    char stream[256] = {0x78, 0x01, 1, (char)n, (char)(n >> 8), (char)~n, (char)(~n >> 8)};
    uint32_t a = 1;
    uint32_t b = 0;
    memcpy(stream + 7, data, n);
    for (size_t i = 0; i < n; i++) {
        a = (a + (unsigned char)data[i]) % 65521;
        b = (b + a) % 65521;
    }
    for (int i = 0; i < 4; i++) {
        stream[7 + n + (size_t)i] = (char)((b << 16 | a) >> (24 - 8 * i));
    }
    put_chunk(file, "IDAT", stream, n + 11);
}

static void expect_refused(bytes *file, gbs_status status, const char *part)
{
    put_chunk(file, "IEND", "", 0);
    refuse_image(file->at, file->n, status, part);
}

static void by_hand(void **state)
{
    (void)state;
    bytes file;
    /* The file of which the other files are variations: two grey pixels. */
    put_head(&file, 2, 1, 8, 0);
    put_stored(&file, "\0ab", 3);
    put_chunk(&file, "IEND", "", 0);
    gbs_image image = read_image(file.at, file.n);
    assert_int_equal(image.sample[0], 'a');
    assert_int_equal(image.sample[1], 'b');
    gbs_image_free(&image);
    /* Sizes above the limits are refused before anything is allocated. */
    put_head(&file, 32769, 1, 8, 0);
    expect_refused(&file, GBS_ERR_LIMIT,
                   "x: byte 16: found a picture of 32769 x 1 pixels; the limit is 32768 x 32768");
    put_head(&file, 0x7fffffff, 0x7fffffff, 16, 6);
    expect_refused(&file, GBS_ERR_LIMIT, "found a picture of 2147483647 x 2147483647 pixels");
    put_head(&file, 32768, 32768, 16, 6);
    put_stored(&file, "\0ab", 3);
    expect_refused(&file, GBS_ERR_LIMIT, "takes 6442450944 bytes in a file of ");
    /* A file of a hundred bytes cannot hold 10^7 pixels. */
    put_head(&file, 10000, 1000, 8, 0);
    put_stored(&file, "\0ab", 3);
    expect_refused(&file, GBS_ERR_FORMAT, "found the end of the file, expected more than its ");
    put_head(&file, 0, 1, 8, 0);
    expect_refused(&file, GBS_ERR_FORMAT, "found damaged PNG data (");
    put_head(&file, 2, 1, 3, 0);
    expect_refused(&file, GBS_ERR_FORMAT, "found damaged PNG data (");
    put_head(&file, 2, 1, 8, 0);
    expect_refused(&file, GBS_ERR_FORMAT, "found damaged PNG data (");
    /* Too few samples; an unknown filter; no palette; a colour beyond the palette. */
    put_head(&file, 2, 2, 8, 0);
    put_stored(&file, "\0ab\0a", 5);
    expect_refused(&file, GBS_ERR_FORMAT, "found damaged PNG data (");
    put_head(&file, 2, 1, 8, 0);
    put_stored(&file, "\x07zz", 3);
    expect_refused(&file, GBS_ERR_FORMAT, "bad adaptive filter value");
    put_head(&file, 2, 1, 8, 3);
    put_stored(&file, "\0\0\0", 3);
    expect_refused(&file, GBS_ERR_FORMAT, "Missing PLTE");
    put_head(&file, 2, 1, 8, 3);
    put_chunk(&file, "PLTE", "rgbRGB", 6);
    put_stored(&file, "\0\1\2", 3);
    expect_refused(&file, GBS_ERR_FORMAT,
                   "found colour 2 in row 0, column 1, expected less than 2");
}

/* Chunks are changed from a fixed seed and get fitting checksums, so libpng sees all damage. */
static void mutated(void **state)
{
    (void)state;
    uint64_t seed = 5;
    int n_read = 0;
    for (size_t i = 0; i < 4000; i++) {
        bytes file;
        bytes changed = {.n = 8};
        const recipe r = {kinds[i % N_KINDS][0], kinds[i % N_KINDS][1], (int)(i / N_KINDS % 2),
                          kinds[i % N_KINDS][0] < 4, i % 7 == 0};
        make_png(&r, &file);
        memcpy(changed.at, file.at, 8);
        for (size_t at = 8; at < file.n;) {
            const unsigned char *b = (const unsigned char *)file.at + at;
            size_t n = (size_t)b[2] << 8 | b[3];
            char name[5] = {file.at[at + 4], file.at[at + 5], file.at[at + 6], file.at[at + 7]};
            char *data = file.at + at + 8;
            uint64_t what = next_random(&seed) % 8;
            if (what == 0 && n > 0) {
                data[next_random(&seed) % n] = (char)next_random(&seed);
            } else if (what == 1 && n > 0 && next_random(&seed) % 4 == 0) {
                n--;
            }
            if (what != 2 || next_random(&seed) % 8 != 0) { /* or the byte is removed */
                put_chunk(&changed, name, data, n);
            }
            if (what == 3 && next_random(&seed) % 8 == 0) { /* or the byte is doubled */
                put_chunk(&changed, name, data, n);
            }
            at += 12 + ((size_t)b[2] << 8 | b[3]);
        }
        gbs_image image;
        gbs_error err = {0};
        const gbs_image_read_options options = {.keep_hidden = i % 2 != 0};
        n_read += read_image_bytes(changed.at, changed.n, &options, &image, &err) == GBS_OK;
        gbs_image_free(&image);
    }
    assert_true(n_read > 500 && n_read < 3800);
}

static void options_of_reading(void **state)
{
    (void)state;
    bytes file;
    warnings warned = {0};
    gbs_error err = {0};
    gbs_image image;
    gbs_image_read_options options = {.max_width = W - 1};
    const recipe r = {0, 8, 0, false, false};
    make_png(&r, &file);
    assert_int_equal(read_image_bytes(file.at, file.n, &options, &image, &err), GBS_ERR_LIMIT);
    assert_string_equal(err.message, "x: byte 16: found a picture of 7 x 6 pixels; the limit is 6 "
                                     "x 32768");
    memcpy(file.at + file.n, "and so on", 9);
    options = (gbs_image_read_options){.max_height = H, .warn = take_warning, .context = &warned};
    assert_int_equal(read_image_bytes(file.at, file.n + 9, &options, &image, &err), GBS_OK);
    gbs_image_free(&image);
    assert_int_equal(warned.n, 1);
    assert_non_null(strstr(warned.last, "ignored 9 bytes behind the picture"));
}

/* ---- writing ----------------------------------------------------------------------------- */

static void written_and_read(void **state)
{
    (void)state;
    static const struct {
        gbs_image_kind kind;
        uint32_t maxval;
        int depth, type;
    } cases[] = {
        {GBS_IMAGE_GREY, 255, 8, 0},    {GBS_IMAGE_GREY, 65535, 16, 0},
        {GBS_IMAGE_COLOR, 255, 8, 2},   {GBS_IMAGE_COLOR, 65535, 16, 2},
        {GBS_IMAGE_PALETTE, 255, 8, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char one[4096];
        char two[4096];
        gbs_image image = make_image(cases[i].kind, cases[i].maxval);
        const char *path = scratch_path("a.png");
        write_image(&image, path, 0);
        gbs_image back = read_path(path);
        expect_same(&image, &back);
        size_t n = read_file(path, one, sizeof one);
        assert_int_equal(one[24], cases[i].depth);
        assert_int_equal(one[25], cases[i].type);
        assert_null(memmem(one, n, "tIME", 4));
        assert_null(memmem(one, n, "tEXt", 4));
        const char *again = scratch_path("b.PNG");
        write_image(&back, again, 0);
        assert_int_equal(read_file(again, two, sizeof two), n);
        assert_memory_equal(one, two, n);
        gbs_image_free(&back);
        gbs_image_free(&image);
    }
}

static void scaled(void **state)
{
    (void)state;
    gbs_image image = read_image("P1 3 1 101", 10);
    const char *path = scratch_path("s.png");
    write_image(&image, path, 0);
    gbs_image_free(&image);
    image = read_path(path);
    assert_int_equal(image.kind, GBS_IMAGE_GREY);
    assert_true(image.sample[0] == 0 && image.sample[1] == 255 && image.sample[2] == 0);
    gbs_image_free(&image);
    image = read_image("P2 4 1 3 0 1 2 3", 16);
    write_image(&image, path, 0);
    gbs_image_free(&image);
    image = read_path(path);
    assert_int_equal(image.maxval, 255);
    assert_true(image.sample[0] == 0 && image.sample[1] == 85 && image.sample[2] == 170 &&
                image.sample[3] == 255);
    gbs_image_free(&image);
    image = read_image("P2 3 1 1000 1 500 1000", 22);
    write_image(&image, path, 0);
    gbs_image_free(&image);
    image = read_path(path);
    assert_int_equal(image.maxval, 65535);
    /* 65.535 and 32767.5, rounded to nearest */
    assert_true(image.sample[0] == 66 && image.sample[1] == 32768 && image.sample[2] == 65535);
    gbs_image_free(&image);
}

static void memory_runs_out(void **state)
{
    (void)state;
    bytes file;
    gbs_error err = {0};
    gbs_image image;
    for (int interlace = 0; interlace < 2; interlace++) {
        const recipe r = {3, 4, interlace, true, true};
        const gbs_image_read_options options = {.keep_hidden = 1};
        make_png(&r, &file);
        uint64_t allowed = 0;
        for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; allowed++) {
            gbsi_alloc_fail_after(allowed);
            status = read_image_bytes(file.at, file.n, &options, &image, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        }
        expect_samples(&image, r.type, r.depth);
        gbs_image_free(&image);
        assert_true(allowed > 8);
    }
    image = make_image(GBS_IMAGE_PALETTE, 255);
    const char *path = scratch_path("m.png");
    uint64_t allowed = 0;
    for (gbs_status status = GBS_ERR_MEMORY; status != GBS_OK; allowed++) {
        gbsi_alloc_fail_after(allowed);
        status = gbs_image_write(&image, path, NULL, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        assert_int_equal(access(path, F_OK) == 0, status == GBS_OK);
    }
    assert_true(allowed > 8);
    gbs_image back = read_path(path);
    expect_same(&image, &back);
    gbs_image_free(&back);
    gbs_image_free(&image);
}

#else

static void refused(void **state)
{
    (void)state;
    gbs_error err = {0};
    refuse_image("\x89PNG\r\n\x1a\n", 8, GBS_ERR_UNSUPPORTED,
                 "x: a PNG picture, which this build cannot read (it was built without libpng)");
    gbs_image image = make_image(GBS_IMAGE_GREY, 255);
    assert_int_equal(gbs_image_write(&image, scratch_path("a.png"), NULL, &err),
                     GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "a.png: this build cannot write PNG pictures"));
    assert_int_not_equal(access(scratch_path("a.png"), F_OK), 0);
    gbs_image_free(&image);
}

#endif

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef GBSI_HAVE_PNG
        cmocka_unit_test(every_kind),   cmocka_unit_test(transparency),
        cmocka_unit_test(cut_anywhere), cmocka_unit_test(damaged),
        cmocka_unit_test(by_hand),      cmocka_unit_test(options_of_reading),
        cmocka_unit_test(mutated),      cmocka_unit_test(written_and_read),
        cmocka_unit_test(scaled),       cmocka_unit_test(memory_runs_out),
#else
        cmocka_unit_test(refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
