/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite formats: lists the formats of models, from formats.def. */
#include <string.h>

#include "cli/cli.h"
#include "options/rows.h"

typedef struct format {
    const char *name, *endings, *what, *programs;
    int is_read, is_written;
} format;

static const format formats[] = {
#define USE_TEXT    .is_read = 1, .is_written = 1
#define USE_BYTES   .is_read = 1, .is_written = 1
#define USE_FILES   .is_read = 1
#define USE_READING .is_read = 1
#define USE_DRAWING .is_written = 1
#define GBS_FORMAT(id, called, ends, is, form, holds, takes, sign, by) \
    {.name = (called), .endings = (ends), .what = (is), .programs = (by), USE_##form},
#include "gibbsite/formats.def"
};

#define N_FORMATS (sizeof formats / sizeof formats[0])

/* Finds the next file name extension. Extensions of files that are only read are included if `all`
 * is set. @return the length of the extension; 0 after the last extension. */
static size_t next_ending(const char **at, const char **ending, int all)
{
    for (;;) {
        *at += strspn(*at, " ");
        const int is_read_only = **at == '<';
        *ending = *at + is_read_only;
        *at += strcspn(*at, " ");
        if (all || !is_read_only) {
            return (size_t)(*at - *ending);
        }
    }
}

static void write_text(gbs_output *output, const void *context)
{
    (void)context;
    for (size_t i = 0; i < N_FORMATS; i++) {
        const format *f = &formats[i];
        const char *at = f->endings;
        const char *ending = NULL;
        size_t n = 0;
        gbsi_output_text(output, f->name);
        for (size_t column = strlen(f->name); column < 15; column++) {
            gbsi_output_text(output, " ");
        }
        while ((n = next_ending(&at, &ending, 1)) > 0) {
            gbsi_output_text(output, " ");
            gbsi_output_bytes(output, ending, n);
            gbsi_output_text(output, ending[-1] == '<' ? " (read only)" : "");
        }
        gbsi_output_text(output, !f->is_written ? " (read only)"
                                 : !f->is_read  ? " (written only)"
                                                : "");
        const char *const lines[] = {"\n    ", f->what, "\n    from ", f->programs, "\n"};
        for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
            gbsi_output_text(output, lines[k]);
        }
    }
    gbsi_output_text(
        output, "All may be packed with gzip or zstd. Of evidence, results, draws and pictures:\n"
                "gibbsite-formats(5).\n");
}

/* Writes a list of extensions, such as "read": [".wcnf", ".cnf"]. */
static void write_endings(gbs_output *output, const char *key, const format *f, int all,
                          int has_any)
{
    const char *at = f->endings;
    const char *ending = NULL;
    size_t n = 0;
    int n_written = 0;
    gbsi_output_text(output, ",\"");
    gbsi_output_text(output, key);
    gbsi_output_text(output, "\":[");
    while (has_any && (n = next_ending(&at, &ending, all)) > 0) {
        gbsi_output_text(output, n_written++ > 0 ? ",\"" : "\"");
        gbsi_output_bytes(output, ending, n);
        gbsi_output_text(output, "\"");
    }
    gbsi_output_text(output, "]");
}

static void write_json(gbs_output *output, const void *context)
{
    (void)context;
    cli_json_head(output, "formats/1", NULL);
    gbsi_output_text(output, ",\"formats\":[");
    for (size_t i = 0; i < N_FORMATS; i++) {
        const format *f = &formats[i];
        gbsi_output_text(output, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        gbsi_output_json_string(output, f->name);
        write_endings(output, "read", f, 1, f->is_read);
        write_endings(output, "written", f, 0, f->is_written);
        gbsi_output_text(output, ",\"what\":");
        gbsi_output_json_string(output, f->what);
        gbsi_output_text(output, ",\"programs\":");
        gbsi_output_json_string(output, f->programs);
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "]}\n");
}

static int run_formats(cli_arguments *arguments)
{
    return cli_write(arguments->output == NULL ? "-" : arguments->output,
                     cli_wants_json(arguments) ? write_json : write_text, NULL);
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/formats.def"
};

const cli_verb cli_verb_formats = {
    .name = "formats",
    CLI_TAKES(options),
    .n_operands = 0,
    .operands = "",
    .what = "the formats of models, their file names, who writes them",
    .notes = "Lists each format as --from and --format name it, its file name extensions and\n"
             "programs that such files come from. gibbsite-formats(5) has their rules.\n",
    .example = "gibbsite formats\n"
               "gibbsite formats --json\n",
    .run = run_formats,
};
