/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all options, and the choices of each option, which are made from options.def and
 * enums.def. */
#include "options/options.h"

#include <stdbool.h>

/* clang-format off */
#define GBS_ENUM(type) static const gbs_choice choices_of_##type[] = {
#define GBS_CHOICE(symbol, number, name, help) {(number), name, help},
#define GBS_ENUM_END(type) };
#include "gibbsite/enums.def"
#undef GBS_ENUM
#undef GBS_CHOICE
#undef GBS_ENUM_END

/* The names of all choices of an option as a text such as "|auto|exact|..."; gbs_option.choices is
 * this text without its first character. */
#define GBS_ENUM(type) static const char words_of_##type[] =
#define GBS_CHOICE(symbol, number, name, help) "|" name
#define GBS_ENUM_END(type) ;
#include "gibbsite/enums.def"
#undef GBS_ENUM
#undef GBS_CHOICE
#undef GBS_ENUM_END

/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are members of an initialiser */
#define PLACE(member)                                                                              \
    .offset = offsetof(gbs_run_options, member),                                                   \
    .width = sizeof(((const gbs_run_options *)NULL)->member)
#define IS_UNSET(text) (sizeof(text) > 1)
#define UNSET(text) .word = IS_UNSET(text) ? "unset" : NULL, .unset = IS_UNSET(text) ? (text) : NULL
#define WHOLE(row_kind, member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset) \
    {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_##row_kind,             \
               .unit = row_unit, .help = row_help, UNSET(row_unset),                               \
               .def = (row_def), .min = (row_min), .max = (row_max), .mark = (row_def)},           \
     PLACE(member)},
#define REAL(row_kind, member, row_name, row_def, row_min, row_max, row_unit, row_help, row_unset) \
    {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_##row_kind,             \
               .unit = row_unit, .help = row_help, UNSET(row_unset), .real_def = (row_def),        \
               .real_min = (row_min), .real_max = (row_max), .real_mark = (row_def)},              \
     PLACE(member)},

#define GBS_OPTION_ENUM(member, row_name, type, row_def, row_help)                                 \
    {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_CHOICE, .unit = "",     \
               .choices = words_of_##type + 1, .help = row_help, .def = (row_def)},                \
     PLACE(member), .choice = choices_of_##type,                                                   \
     .n_choices = sizeof choices_of_##type / sizeof choices_of_##type[0]},
#define GBS_OPTION_FLAG(member, row_name, row_help)                                                \
    {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_FLAG, .unit = "",       \
               .help = row_help, .max = 1}, PLACE(member)},
#define GBS_OPTION_UINT(...) WHOLE(COUNT, __VA_ARGS__)
#define GBS_OPTION_SIZE(...) WHOLE(SIZE, __VA_ARGS__)
#define GBS_OPTION_REAL(...) REAL(REAL, __VA_ARGS__)
#define GBS_OPTION_TIME(...) REAL(DURATION, __VA_ARGS__)
#define GBS_OPTION_AUTO(member, row_name, row_def, row_min, row_max, row_unit, row_help, row_mark) \
    {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_REAL,                   \
               .unit = row_unit, .help = row_help, .word = "auto", .real_def = (row_def),          \
               .real_min = (row_min), .real_max = (row_max), .real_mark = (row_mark)},             \
     PLACE(member)},
#define GBS_OPTION_LEVELS(member, row_name, row_max, row_unit, row_help)                           \
    {.shown = {.name = row_name, .field = #member, .kind = GBS_OPTION_KIND_COUNT,                  \
               .unit = row_unit, .help = row_help, .word = "auto", .min = 1, .max = (row_max),     \
               .off = "off"},                                                                      \
     PLACE(member)},

/* NOLINTEND(bugprone-macro-parentheses) */
const gbsi_option gbsi_options[] = {
#include "gibbsite/options.def"
};
/* clang-format on */
const size_t gbsi_n_options = sizeof gbsi_options / sizeof gbsi_options[0];

size_t gbs_option_count(void)
{
    return gbsi_n_options;
}

const gbs_option *gbs_option_at(size_t index)
{
    return index < gbsi_n_options ? &gbsi_options[index].shown : NULL;
}

bool gbsi_same_name(const char *name, const char *text, char joint)
{
    while (*name != '\0' && (*text == *name || (*text == '_' && *name == joint))) {
        ++name;
        ++text;
    }
    return *name == *text;
}

const gbsi_option *gbsi_option_find(const char *name)
{
    for (size_t i = 0; name != NULL && i < gbsi_n_options; ++i) {
        if (gbsi_same_name(gbsi_options[i].shown.name, name, '-')) {
            return &gbsi_options[i];
        }
    }
    return NULL;
}

const gbs_option *gbs_option_find(const char *name)
{
    const gbsi_option *option = gbsi_option_find(name);
    return option == NULL ? NULL : &option->shown;
}

const gbs_choice *gbs_option_choice(const gbs_option *option, size_t index)
{
    const gbsi_option *row = option == NULL ? NULL : gbsi_option_find(option->name);
    return row != NULL && index < row->n_choices ? &row->choice[index] : NULL;
}

const char *gbsi_option_choice_name(const gbsi_option *row, int number)
{
    for (size_t i = 0; i < row->n_choices; ++i) {
        if (row->choice[i].number == number) {
            return row->choice[i].name;
        }
    }
    return NULL;
}
