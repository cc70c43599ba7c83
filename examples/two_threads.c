/* SPDX-License-Identifier: Apache-2.0 */
/* Two runs at the same time on one model: a built model is shared by any number of threads, while
 * every thread has its own evidence, run and error.
 *
 *     cc two_threads.c $(pkg-config --cflags --libs gibbsite) -pthread -o two_threads */
#include <pthread.h>
#include <stdio.h>

#include <gibbsite/gibbsite.h>

typedef struct job {
    const gbs_model *model; /* shared */
    const char *evidence;
    gbs_answer answer;
    gbs_error err;
    gbs_status status;
} job;

static void *work(void *context)
{
    job *j = context;
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.target_error = 0.005;
    options.threads = 1; /* of this run; more would do, and give the same answer */
    j->status = gbs_query(j->model, j->evidence, "pneumonia", &options, &j->answer, &j->err);
    return NULL;
}

int main(int argc, char **argv)
{
    gbs_error err = {0};
    gbs_model *model = NULL;
    pthread_t thread[2];
    if (gbs_model_read(argc > 1 ? argv[1] : "examples/clinic.bif", NULL, &model, &err) < 0) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    job jobs[2] = {{.model = model, .evidence = "fever=no"},
                   {.model = model, .evidence = "fever=yes, cough=yes"}};
    int failed = 0;
    for (int i = 0; i < 2; ++i) {
        jobs[i].answer.size = sizeof jobs[i].answer;
        if (pthread_create(&thread[i], NULL, work, &jobs[i]) != 0) {
            return 1;
        }
    }
    for (int i = 0; i < 2; ++i) {
        (void)pthread_join(thread[i], NULL);
        if (jobs[i].status < 0) {
            (void)fprintf(stderr, "%s\n", jobs[i].err.message);
            failed = 1;
            continue;
        }
        (void)printf("given %s: P(no pneumonia) = %.3f +- %.3f\n", jobs[i].evidence,
                     jobs[i].answer.p[0], jobs[i].answer.mcse[0]);
        gbs_answer_free(&jobs[i].answer);
    }
    gbs_model_free(model);
    return failed;
}
