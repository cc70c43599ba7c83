/* SPDX-License-Identifier: Apache-2.0 */
/* Writes include/gibbsite/option_fields.h from the rows of options.def, enums.def and
 * question_enums.def. An editor can then show the fields, which it cannot see behind macros.
 *
 *     option_fields          print the header
 *     option_fields FILE     test: fail unless FILE is the header that would be printed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, MOST = 1 << 16 };

static char header[MOST];
static size_t length;

static void put(const char *text)
{
    const size_t n = strlen(text);
    if (length + n >= sizeof header) {
        exit(2);
    }
    memcpy(header + length, text, n + 1);
    length += n;
}

/* Puts a comment about the field or member below it, in lines of WIDTH columns. */
static void put_comment(const char *text)
{
    size_t column = 7;
    put("    /**");
    while (*text != '\0') {
        char word[WIDTH];
        const size_t n = strcspn(text, " ");
        (void)snprintf(word, sizeof word, "%.*s", (int)n, text);
        const int is_last = text[n] == '\0';
        if (column + 1 + n + (is_last ? 3 : 0) > WIDTH) {
            put("\n     *");
            column = 6;
        }
        put(" ");
        put(word);
        column += 1 + n;
        text += n + (is_last ? 0 : 1);
    }
    put(" */\n");
}

/* Puts a field with its comment: "Order of updates. Option --scan; default ...". */
static void put_field(const char *type, const char *field, const char *help, const char *name,
                      const char *values)
{
    char text[2048];
    (void)snprintf(text, sizeof text, "%s. Option --%s%s.", help, name, values);
    put_comment(text);
    (void)snprintf(text, sizeof text, "    %s %s;\n", type, field);
    put(text);
}

/* @return the range of an option: " (passes): 1 to UINT32_MAX, default 1". */
static const char *ranged(const char *unit, const char *least, const char *most, const char *def,
                          const char *unset)
{
    static char text[1024];
    (void)snprintf(text, sizeof text, "%s%s%s: %s to %s, default %s%s%s", unit[0] != 0 ? " (" : "",
                   unit, unit[0] != 0 ? ")" : "", least, most, def, unset[0] != 0 ? ": " : "",
                   unset);
    return text;
}

static const char *chosen(const char *type, const char *def)
{
    static char text[256];
    (void)snprintf(text, sizeof text, ": a %s, default %s", type, def);
    return text;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_enum(const char *type)
{
    put("\ntypedef enum ");
    put(type);
    put(" {\n");
}

static void put_choice(const char *symbol, int number, const char *name, const char *help)
{
    char text[1024];
    (void)snprintf(text, sizeof text, "\"%s\": %s", name, help);
    put_comment(text);
    (void)snprintf(text, sizeof text, "    %s = %d,\n", symbol, number);
    put(text);
}

static void put_enums(void)
{
#define GBS_ENUM(type)                         put_enum(#type);
#define GBS_CHOICE(symbol, number, name, help) put_choice(#symbol, number, name, help);
#define GBS_ENUM_END(type)                     put("} " #type ";\n");
#include "gibbsite/enums.def"
#include "gibbsite/question_enums.def"
#undef GBS_ENUM
#undef GBS_CHOICE
#undef GBS_ENUM_END
}

/* Puts the fields. Numbers stay as the table writes them, because a name tells more than its
 * value. */
static void put_fields(void)
{
#define GBS_OPTION_ENUM(field, name, type, def, help) \
    put_field("int", #field, help, name, chosen(#type, #def));
#define GBS_OPTION_FLAG(field, name, help) \
    put_field("int", #field, help, name, ": 0 or 1, default 0");
#define GBS_OPTION_UINT(field, name, def, min, max, unit, help, unset) \
    put_field("uint64_t", #field, help, name, ranged(unit, #min, #max, #def, unset));
#define GBS_OPTION_SIZE GBS_OPTION_UINT
#define GBS_OPTION_REAL(field, name, def, min, max, unit, help, unset) \
    put_field("double", #field, help, name, ranged(unit, #min, #max, #def, unset));
#define GBS_OPTION_TIME GBS_OPTION_REAL
#define GBS_OPTION_AUTO(field, name, def, min, max, unit, help, mark) \
    put_field("double", #field, help, name, ranged(unit, #min, #max, #def, "auto is " #mark));
#define GBS_OPTION_LEVELS(field, name, max, unit, help) \
    put_field("uint64_t", #field, help, name, ranged(unit, "2", #max, "0", "auto; 1 is off"));
#include "gibbsite/options.def"
}

static void write_header(void)
{
    put("/* SPDX-License-Identifier: Apache-2.0 */\n"
        "/* Made by tools/option_fields.c from options.def, enums.def and question_enums.def: "
        "change\n"
        " * those, and then run\n"
        " *\n"
        " *     ./dev build */\n"
        "/* clang-format off */\n"
        "/** The choices of options, and the fields of gbs_run_options that options.h includes. "
        "*/\n"
        "#ifndef GIBBSITE_OPTION_FIELDS_H\n"
        "#define GIBBSITE_OPTION_FIELDS_H\n\n"
        "#include <stddef.h>\n"
        "#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
    put_enums();
    put("\n/**\n"
        " * Options of a run: start from gbs_run_options_default() and change fields.\n"
        " *\n"
        " * Fields never move: later versions of the library append fields. They accept the "
        "smaller\n"
        " * struct of a program compiled with any earlier version, and use the defaults for the\n"
        " * fields it lacks. A default that is followed by \":\" and words means what these say.\n"
        " */\n"
        "typedef struct gbs_run_options {\n"
        "    size_t size; /**< bytes in the caller's struct; gbs_run_options_init() sets it */\n"
        "    /* The arrays are borrowed until gbs_run_new() returns. */\n"
        "    const uint32_t *sequence; /**< for GBS_SCAN_SEQUENCE: [sequence_length] variable ids "
        "*/\n"
        "    size_t sequence_length;\n"
        "    const uint32_t *dummy_edges; /**< NULL, or [2 * n_dummy_edges] pairs of variables: "
        "herding\n"
        "                                      treats the two variables of a pair as neighbours "
        "*/\n"
        "    size_t n_dummy_edges;\n"
        "    const uint32_t *target; /**< with restarts: NULL, or [n_targets] variables to "
        "estimate; other\n"
        "                                 variables are updated but have no estimate */\n"
        "    size_t n_targets;\n"
        "    const uint32_t *start; /**< NULL, or [n_variables]: the initial state of every chain "
        "*/\n");
    put_fields();
    put("} gbs_run_options;\n\n"
        "#ifdef __cplusplus\n}\n#endif\n"
        "#endif\n");
}

int main(int argc, char **argv)
{
    static char found[MOST];
    write_header();
    if (argc < 2) {
        return fputs(header, stdout) == EOF;
    }
    FILE *file = fopen(argv[1], "rb");
    const size_t n = file == NULL ? 0 : fread(found, 1, sizeof found - 1, file);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (n != length || memcmp(found, header, n) != 0) {
        (void)fprintf(stderr, "%s is not what the tables say: run ./dev build\n", argv[1]);
        return 1;
    }
    return 0;
}
