/* SPDX-License-Identifier: Apache-2.0 */
#include "options/needs.h"

#include <stdio.h>
#include <string.h>

/* Copies the text from *at up to the separator `end` to `part`, and moves *at past the separator.
 * @param part [GBSI_NEED_SIZE], out. */
static void take_part(const char **at, const char *end, char *part)
{
    const size_t length = strcspn(*at, end);
    (void)snprintf(part, GBSI_NEED_SIZE, "%.*s", (int)length, *at);
    *at += length;
    *at += strspn(*at, ",; ");
}

/* @param said [GBSI_SAID_SIZE] out: if the condition does not hold, a text that states it. */
static bool condition_holds(const char *condition, gbsi_holds *holds, const void *context,
                            char *said)
{
    char any[GBSI_NEED_SIZE] = "";
    size_t used = 0;
    if (strncmp(condition, "no ", 3) == 0) {
        (void)snprintf(said, GBSI_SAID_SIZE, "cannot apply with --%s", condition + 3);
        return holds(context, condition + 3, NULL) != GBSI_HELD_YES;
    }
    while (*condition != '\0' && used < sizeof any) {
        char name[GBSI_NEED_SIZE];
        take_part(&condition, ",", name);
        char *equals = strstr(name, " = ");
        const char *values = equals == NULL ? NULL : equals + 3;
        if (equals != NULL) {
            *equals = '\0';
        }
        if (holds(context, name, values) != GBSI_HELD_NO) {
            return true;
        }
        used +=
            (size_t)snprintf(any + used, sizeof any - used, "%s--%s%s%s", used > 0 ? " or " : "",
                             name, values != NULL ? " " : "", values != NULL ? values : "");
    }
    (void)snprintf(said, GBSI_SAID_SIZE, "applies with %s only", any);
    return false;
}

bool gbsi_needs_hold(const char *needs, gbsi_holds *holds, const void *context, char *said)
{
    while (*needs != '\0') {
        char condition[GBSI_NEED_SIZE];
        take_part(&needs, ";", condition);
        if (!condition_holds(condition, holds, context, said)) {
            return false;
        }
    }
    return true;
}

bool gbsi_needs_have(const char *needs, const char *condition)
{
    while (*needs != '\0') {
        char part[GBSI_NEED_SIZE];
        take_part(&needs, ";", part);
        if (strcmp(part, condition) == 0) {
            return true;
        }
    }
    return false;
}

bool gbsi_is_among(const char *value, const char *words)
{
    const size_t length = strlen(value);
    while (strcspn(words, "|") != length || memcmp(words, value, length) != 0) {
        words += strcspn(words, "|");
        if (*words++ == '\0') {
            return false;
        }
    }
    return true;
}
