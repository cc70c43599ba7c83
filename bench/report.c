/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdarg.h>
#include <string.h>

#include "commit.h"
#include "gibbsite/gibbsite.h"

void bench_tell(const bench_report *report, const char *format, ...)
{
    if (report->table == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)vfprintf(report->table, format, arguments);
    (void)fputc('\n', report->table);
    (void)fflush(report->table);
    va_end(arguments);
}

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* @return the name that the system gives the processor. */
static const char *cpu_name(void)
{
    static char name[128];
    char line[512];
    FILE *file = name[0] == '\0' ? fopen("/proc/cpuinfo", "r") : NULL;
    while (file != NULL && name[0] == '\0' && fgets(line, sizeof line, file) != NULL) {
        const char *value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
        if (value != NULL) {
            (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(value + 2, "\"\\\n"), value + 2);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return name[0] == '\0' ? "unknown" : name;
}

void bench_record(const bench_report *report, const char *kind, const char *format, ...)
{
    if (report->json == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(report->json, "{\"kind\":\"%s\",", kind);
    (void)vfprintf(report->json, format, arguments);
    (void)fprintf(report->json,
                  ",\"seed\":1,\"simd\":\"%s\",\"cpu\":\"%s\",\"compiler\":\"%s\","
                  "\"flags\":\"%s\",\"commit\":\"%s\",\"version\":\"%s\"}\n",
                  gbs_simd_name(), cpu_name(), COMPILER, BENCH_FLAGS, BENCH_COMMIT, gbs_version());
    (void)fflush(report->json);
    va_end(arguments);
}
