/* SPDX-License-Identifier: Apache-2.0 */
/* Decides in which file results go and in which format. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_check_output(const char *path)
{
    struct stat is;
    if (path == NULL || strcmp(path, "-") == 0) {
        return CLI_DONE;
    }
    const int exists = stat(path, &is) == 0;
    if (exists && S_ISDIR(is.st_mode)) {
        return cli_error(CLI_FAILED, "%s: cannot write: it is a folder", path);
    }
    if (exists && !S_ISREG(is.st_mode)) {
        return CLI_DONE; /* a pipe or a device is written to directly */
    }
    /* A link is followed: the file that it points to is replaced in its own folder. */
    char *folder = exists ? realpath(path, NULL) : NULL;
    folder = folder == NULL ? strdup(path)
                            : folder; /* some descriptors, such as sockets, have no path */
    CLI_PASS(CLI_HAVE(folder));
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        memcpy(folder, ".", 2); /* a path is never empty, because the options were checked */
    } else {
        slash[slash == folder ? 1 : 0] = '\0';
    }
    int status = CLI_DONE;
    if (access(folder, W_OK | X_OK) != 0) {
        int number = errno;
        status = cli_error(CLI_FAILED, "%s: cannot write: folder %s: %s", path, folder,
                           strerror(number)); // NOLINT(concurrency-mt-unsafe): one thread
    }
    free(folder);
    return status;
}

int cli_output_format(const cli_arguments *arguments, const char *known, const char *fallback,
                      const char **format)
{
    static const struct {
        const char *ending, *format;
    } names[] = {{"mar", "mar"}, {"map", "map"}, {"pr", "pr"},   {"csv", "csv"},   {"json", "json"},
                 {"tab", "tab"}, {"npz", "npz"}, {"npy", "npy"}, {"nc", "netcdf"}, {"pbm", "pbm"},
                 {"pgm", "pgm"}, {"ppm", "ppm"}, {"png", "png"}};
    const char *path = arguments->output;
    if (arguments->format != NULL) {
        *format = arguments->format;
        return CLI_DONE;
    }
    if (path == NULL || strcmp(path, "-") == 0) {
        *format = fallback;
        return CLI_DONE;
    }
    const size_t n = gbsi_unpacked_length(path);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t m = strlen(names[i].ending);
        if (n <= m || path[n - m - 1] != '.' ||
            strncasecmp(path + n - m, names[i].ending, m) != 0) {
            continue;
        }
        if (strstr(known, names[i].format) == NULL) {
            return cli_error(CLI_USAGE,
                             "%s: this verb does not write .%s files; the formats are --format %s",
                             path, names[i].ending, known);
        }
        *format = names[i].format;
        return CLI_DONE;
    }
    if (cli_refuse_ending(path, known) != CLI_DONE) {
        return CLI_USAGE;
    }
    /* for an extension without a format, such as .txt */
    *format = strstr(known, "csv") != NULL ? "csv" : fallback;
    struct stat is;
    if (stat(path, &is) != 0 || S_ISREG(is.st_mode)) { /* a device such as /dev/null gets no note */
        cli_note(arguments, "%s: its ending names no format: written as %s; --format %s chooses",
                 path, *format, known);
    }
    return CLI_DONE;
}

const char *cli_variable_text(const gbs_model *model, uint32_t variable, const char *prefix,
                              char *text)
{
    const char *name = gbs_model_variable_name(model, variable);
    if (name != NULL) {
        return name;
    }
    (void)snprintf(text, 32, "%s%" PRIu32, prefix, variable);
    return text;
}

const char *cli_state_text(const gbs_model *model, uint32_t variable, uint32_t state, char *text)
{
    const char *label = gbs_model_state_label(model, variable, state);
    if (label != NULL) {
        return label;
    }
    (void)snprintf(text, 32, "%" PRIu32, state);
    return text;
}

void cli_text_add(cli_text *text, const char *more)
{
    const size_t left = text->size - text->n;
    const size_t n = strlen(more);
    const size_t taken = n < left ? n : left - 1;
    memcpy(text->at + text->n, more, taken);
    text->n += taken;
    text->at[text->n] = '\0';
}

size_t cli_states_bytes(const gbs_model *model, uint32_t n, const uint32_t *scope)
{
    char text[32];
    size_t sum = 1;
    for (uint32_t k = 0; k < n; k++) {
        size_t label = 0;
        for (uint32_t a = 0; a < gbs_model_arity(model, scope[k]); a++) {
            const size_t length = strlen(cli_state_text(model, scope[k], a, text));
            label = length > label ? length : label;
        }
        sum += strlen(cli_variable_text(model, scope[k], "", text)) + label + 3;
    }
    return sum;
}

/* @return the state of variable scope[k] in an entry of a table. The last variable of the scope
 *         varies fastest. */
static uint32_t state_in(const gbs_model *model, uint32_t n, const uint32_t *scope, size_t entry,
                         uint32_t k)
{
    for (uint32_t i = n - 1; i > k; i--) {
        entry /= gbs_model_arity(model, scope[i]);
    }
    return (uint32_t)(entry % gbs_model_arity(model, scope[k]));
}

void cli_add_states(const gbs_model *model, uint32_t n, uint32_t n_scope, const uint32_t *scope,
                    size_t entry, const char *between, cli_text *text)
{
    char number[32];
    for (uint32_t k = 0; k < n && text->n + 1 < text->size; k++) {
        cli_text_add(text, k > 0 ? between : "");
        cli_text_add(text, cli_variable_text(model, scope[k], "", number));
        cli_text_add(text, "=");
        cli_text_add(text, cli_state_text(model, scope[k],
                                          state_in(model, n_scope, scope, entry, k), number));
    }
}

void cli_json_variable(gbs_output *output, const gbs_model *model, uint32_t v)
{
    const char *name = gbs_model_variable_name(model, v);
    gbsi_output_text(output, "\"id\": ");
    gbsi_output_uint(output, v);
    if (name != NULL) {
        gbsi_output_text(output, ", \"name\": ");
        gbsi_output_json_string(output, name);
    }
    if (gbs_model_state_label(model, v, 0) != NULL) {
        gbsi_output_text(output, ", \"states\": [");
        for (uint32_t a = 0; a < gbs_model_arity(model, v); a++) {
            gbsi_output_text(output, a > 0 ? ", " : "");
            gbsi_output_json_string(output, gbs_model_state_label(model, v, a));
        }
        gbsi_output_text(output, "]");
    }
}

void cli_json_array(gbs_output *output, const char *name, const double *value, size_t n)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": [");
    for (size_t i = 0; i < n; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        gbsi_output_json_double(output, value[i]);
    }
    gbsi_output_text(output, "]");
}

void cli_csv_number(gbs_output *output, double value)
{
    gbsi_output_text(output, ",");
    if (isfinite(value)) {
        gbsi_output_double(output, value);
    }
}

#ifdef __EMSCRIPTEN__
/* The memory of a WebAssembly module only grows, by pages of 64 KiB. */
uint64_t cli_peak_rss_bytes(void)
{
    return (uint64_t)__builtin_wasm_memory_size(0) * 65536;
}
#else
/* Reads the line "VmHWM: 1234 kB" of /proc on Linux; 0 on other systems. Unlike getrusage(), VmHWM
 * does not include the size of the process that called exec() for this program. */
static uint64_t high_water_mark(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kib = strtoull(line + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return (uint64_t)kib * 1024;
}

uint64_t cli_peak_rss_bytes(void)
{
    struct rusage usage;
    const uint64_t mark = high_water_mark();
    if (mark > 0 || getrusage(RUSAGE_SELF, &usage) != 0) {
        return mark;
    }
#ifdef __APPLE__
    return (uint64_t)usage.ru_maxrss;
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}
#endif

static void json_flag(gbs_output *output, const char *name, int is)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, is ? ": true" : ": false");
}

void cli_json_verdict(gbs_output *output, const gbs_report *report)
{
    json_flag(output, "converged", report->converged);
    gbsi_output_text(output, ", \"verdict\": ");
    gbsi_output_json_string(output, report->verdict);
    json_flag(output, "chains_disagree", report->chains_disagree);
    json_flag(output, "in_burn_in", report->in_burn_in);
}

void cli_json_head(gbs_output *output, const char *schema, const char *model_digest)
{
    gbsi_output_text(output, "{\n  \"schema\": ");
    gbsi_output_json_string(output, schema);
    gbsi_output_text(output, ",\n  \"tool\": \"gibbsite\",\n  \"version\": ");
    gbsi_output_json_string(output, gbs_version());
    if (model_digest != NULL) {
        gbsi_output_text(output, ",\n  \"model\": ");
        gbsi_output_json_string(output, model_digest);
    }
}

int cli_write(const char *path, void (*write)(gbs_output *output, const void *context),
              const void *context)
{
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    if (path == NULL) {
        return CLI_DONE;
    }
    gbs_status done = gbs_output_open(path, &output, &err);
    if (done >= 0) {
        write(output, context);
        done = gbs_output_commit(output, &err);
    }
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static void name_member(gbs_output *output, const char *name)
{
    gbsi_output_text(output, ",\n  ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
}

static void write_members(gbs_output *output, const void *context)
{
    const cli_members *members = context;
    cli_json_head(output, members->schema,
                  members->model == NULL ? NULL : gbs_model_digest(members->model));
    for (const cli_text_member *m = members->texts; m != NULL && m->name != NULL; m++) {
        name_member(output, m->name);
        gbsi_output_json_string(output, m->value);
    }
    for (const cli_count *m = members->counts; m != NULL && m->name != NULL; m++) {
        name_member(output, m->name);
        gbsi_output_uint(output, m->value);
    }
    for (const cli_number *m = members->numbers; m != NULL && m->name != NULL; m++) {
        name_member(output, m->name);
        gbsi_output_json_double(output, m->value);
    }
    for (const cli_flag *m = members->flags; m != NULL && m->name != NULL; m++) {
        name_member(output, m->name);
        gbsi_output_text(output, m->value ? "true" : "false");
    }
    gbsi_output_text(output, "\n}\n");
}

int cli_write_members(const char *path, const cli_members *members)
{
    return cli_write(path, write_members, members);
}

int cli_check_results(const cli_arguments *arguments)
{
    const struct {
        const char *name, *path;
    } file[] = {{"output", arguments->output != NULL ? arguments->output : "-"},
                {"intervals", arguments->intervals},
                {"curve", arguments->curve},
                {"summary", arguments->summary},
                {"checkpoint", arguments->checkpoint}};
    int status = CLI_DONE;
    for (size_t i = 0; i < sizeof file / sizeof file[0] && status == CLI_DONE; i++) {
        const char *path = file[i].path;
        status = cli_check_output(path);
        for (size_t k = 0; k < i && path != NULL && status == CLI_DONE; k++) {
            if (file[k].path == NULL || strcmp(file[k].path, path) != 0 ||
                strncmp(path, "/dev/", 5) == 0) {
                continue;
            }
            status = strcmp(path, "-") == 0
                         ? cli_error(CLI_USAGE,
                                     "--%s -: standard output is for the result; name a file "
                                     "instead",
                                     file[i].name)
                         : cli_error(CLI_USAGE, "--%s and --%s name the same file %s", file[k].name,
                                     file[i].name, path);
        }
    }
    return status;
}

int cli_check_plot(const cli_arguments *arguments)
{
    const char *plot = arguments->plot;
    const size_t n = plot == NULL ? 0 : strlen(plot);
    if (plot != NULL && (n < 4 || strcmp(plot + n - 4, ".svg") != 0)) {
        return cli_error(CLI_USAGE, "--plot %s: charts are SVG, expected a name that ends in .svg",
                         plot);
    }
    if (plot != NULL && arguments->output != NULL && strcmp(plot, arguments->output) == 0) {
        return cli_error(CLI_USAGE, "--output and --plot name the same file %s", plot);
    }
    return cli_check_output(plot);
}
