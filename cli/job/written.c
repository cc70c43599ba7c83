/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses file names whose ending belongs to another kind of file than the result, so that a result
 * of another kind cannot overwrite a model, table or picture. */
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "src/files/models/format_names.h"

/* Kinds of files that extensions indicate. */
enum {
    MODEL = 1,
    TABLE = 2,
    JSON = 4,
    ARRAYS = 8,
    PICTURE = 16,
    PAGE = 32,
    ANSWER = 64,
    LABELS = 128,
    DRAWING = 256,
    NEVER = 512, /* extensions of files that no verb writes */
};

typedef struct ending {
    int kind;
    const char *text;
} ending;

static const ending endings[] = {
    {TABLE, ".csv"}, {TABLE, ".tsv"},   {JSON, ".json"},     {ARRAYS, ".npz"},  {ARRAYS, ".npy"},
    {ARRAYS, ".nc"}, {PICTURE, ".png"}, {PICTURE, ".pbm"},   {PICTURE, ".pgm"}, {PICTURE, ".ppm"},
    {PAGE, ".html"}, {PAGE, ".htm"},    {ANSWER, ".mar"},    {ANSWER, ".map"},  {ANSWER, ".mpe"},
    {ANSWER, ".pr"}, {ANSWER, ".mmap"}, {LABELS, ".tab"},    {DRAWING, ".svg"}, {NEVER, ".pdf"},
    {NEVER, ".jpg"}, {NEVER, ".jpeg"},  {NEVER, ".gif"},     {NEVER, ".bmp"},   {NEVER, ".xlsx"},
    {NEVER, ".xls"}, {NEVER, ".ods"},   {NEVER, ".parquet"}, {NEVER, ".rds"},   {NEVER, ".feather"},
    {NEVER, ".pkl"}, {NEVER, ".evid"},  {MODEL, ".dot"},     {MODEL, ".gv"},
};

/* @return the kind of file that the extension of a path indicates; 0 if the extension is not
 * known. */
static int kind_of(const char *path)
{
    const size_t n = gbsi_unpacked_length(path);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t m = strlen(endings[i].text);
        if (n > m && strncasecmp(path + n - m, endings[i].text, m) == 0) {
            return endings[i].kind;
        }
    }
    /* a file .txt may contain any kind of text */
    const int is_text = n > 4 && strncasecmp(path + n - 4, ".txt", 4) == 0;
    return !is_text && gbsi_model_format_of(path) != NULL ? MODEL : 0;
}

/* A kind of file that an option of a verb writes. */
typedef struct written {
    const char *option;
    /* verb to which the row applies; NULL: all verbs without a row of their own */
    const char *verb;
    int kinds;
    const char *what, *use;
} written;

/* The first row that fits an option and a verb applies. cli_output_format() checks results that may
 * have several formats. Pictures are checked elsewhere. */
static const written files[] = {
    {"output", "learn crf", 0, "a conditional random field", ".crf"},
    {"output", "learn aspects", 0, "a set of classes", ".aspects"},
    {"output", "label", TABLE | LABELS, "a labelled text", ".txt"},
    {"output", "certify", TABLE | JSON, "text or JSON", ".txt or .json"},
    {"output", "scan", 0, "a scan", ".scan"},
    {"output", "decompose", TABLE, "CSV", ".csv"},
    {"output", "info", JSON, "text or JSON", ".txt or .json"},
    {"output", "uai", ANSWER, "an answer as in the UAI competitions", ".MAR"},
    {"output", "report", PAGE, "a page for a browser", ".html"},
    {"report", NULL, PAGE, "a page for a browser", ".html"},
    {"drawing", NULL, DRAWING, "a drawing", ".svg"},
    {"summary", NULL, JSON, "JSON", ".json"},
    {"series", NULL, ARRAYS, "an archive of arrays", ".npz"},
    {"intervals", NULL, TABLE, "CSV", ".csv"},
    {"curve", NULL, TABLE, "CSV", ".csv"},
    {"checkpoint", NULL, 0, "a checkpoint", ".ckpt"},
};
static const written model = {"output", NULL, MODEL | DRAWING, "a model",
                              ".gbm or another one of models"};

/* Names the kind of file that has the extension of a path, such as "models (bif)". */
static const char *kind_text(int kind, const char *path, char *text, size_t size)
{
    static const char *const names[] = {"models",   "tables",
                                        "JSON",     "arrays",
                                        "pictures", "pages for a browser",
                                        "answers",  "data of libDAI",
                                        "drawings", "files of other programs"};
    int i = 0;
    while ((kind >> i) > 1) {
        i++;
    }
    const char *format = kind == MODEL ? gbsi_model_format_of(path) : NULL;
    (void)snprintf(text, size, format == NULL ? "%s" : "%s (%s)", names[i], format);
    return text;
}

static int check(const written *file, const char *path)
{
    char text[64];
    const int kind = path == NULL || strcmp(path, "-") == 0 ? 0 : kind_of(path);
    return kind == 0 || (kind & file->kinds) != 0
               ? CLI_DONE
               : cli_error(CLI_USAGE,
                           "--%s %s: found the extension of %s, but %s is written: expected a name "
                           "that ends in %s",
                           file->option, path, kind_text(kind, path, text, sizeof text), file->what,
                           file->use);
}

/* @return whether a verb writes models, in which case the output may replace the model that was
 *         read. */
static int writes_models(const cli_verb *verb)
{
    const cli_option *format = cli_find_option("format", verb);
    return format != NULL && format->unit == cli_model_formats + 1;
}

int cli_check_written(const cli_verb *verb, const cli_arguments *arguments)
{
    int status = CLI_DONE;
    const char *last = "";
    if (writes_models(verb) && arguments->format == NULL) {
        status = check(&model, arguments->output);
    }
    for (size_t i = 0; i < sizeof files / sizeof files[0] && status == CLI_DONE; i++) {
        const written *file = &files[i];
        const int is_its = file->verb == NULL || cli_is_verb(verb, file->verb);
        const cli_option *option = is_its ? cli_find_option(file->option, verb) : NULL;
        if (option == NULL || strcmp(last, file->option) == 0) {
            continue;
        }
        last = file->option;
        status = check(file, *(const char *const *)((const char *)arguments + option->offset));
    }
    return status;
}

int cli_check_operands(const cli_verb *verb, const cli_arguments *arguments)
{
    struct stat result;
    struct stat source;
    const int takes_rows = cli_is_verb(verb, "fit") || cli_is_verb(verb, "learn weights");
    if (takes_rows && cli_is_table(arguments->operand[0]) &&
        gbsi_model_format_of(arguments->operand[1]) != NULL) {
        return cli_error(CLI_USAGE, "found a table before a model: type gibbsite %s %s %s",
                         verb->name, arguments->operand[1], arguments->operand[0]);
    }
    if (arguments->output == NULL || writes_models(verb) || stat(arguments->output, &result) != 0 ||
        !S_ISREG(result.st_mode)) {
        return CLI_DONE;
    }
    for (int i = 0; i < arguments->n_operands; i++) {
        if (stat(arguments->operand[i], &source) == 0 && source.st_dev == result.st_dev &&
            source.st_ino == result.st_ino) {
            return cli_error(CLI_USAGE,
                             "--output %s would replace the file that is read: name another one",
                             arguments->output);
        }
    }
    return CLI_DONE;
}

int cli_check_answer(const char *path)
{
    static const written answer = {"output", NULL, ANSWER, "an answer as in the UAI competitions",
                                   ".MAP or .PR"};
    return check(&answer, path);
}

int cli_refuse_ending(const char *path, const char *known)
{
    char text[64];
    const int kind = kind_of(path);
    return kind == 0 ? CLI_DONE
                     : cli_error(CLI_USAGE,
                                 "%s: found the extension of %s, which this verb does not write; "
                                 "the formats are --format %s",
                                 path, kind_text(kind, path, text, sizeof text), known);
}
