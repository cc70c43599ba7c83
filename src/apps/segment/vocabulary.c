/* SPDX-License-Identifier: Apache-2.0 */
/* k-means (Lloyd 1982, IEEE Trans. Information Theory 28:129). Each starting centre is a point that
 * is drawn with a probability proportional to the square of its distance from the nearest centre
 * drawn before (Arthur & Vassilvitskii 2007, SODA, k-means++). */
#include "segment/aspects.h"

#include "base/memory.h"
#include "rng/philox.h"

enum {
    MOST_POINTS = 10000, /* largest number of points from which centres are computed; more points
                            are sampled evenly */
    MOST_ROUNDS = 30,
    LANES = 8, /* number of partial sums of a distance: with a fixed number, compilers can use
                  vectors and change no bit */
};

typedef struct search {
    gbsi_work *work;
    gbsi_vocabulary *v;
    const float **point; /* [n] points */
    size_t n;
    float *distance; /* [n] squared distance from the nearest centre so far */
    uint32_t *word;  /* [n] number of the nearest centre */
    uint32_t latest; /* number of the starting centre that was drawn last; points are compared with
                        this centre */
    bool *moved;     /* [members] whether some point changed its word */
} search;

static float squared_distance(const float *a, const float *b, uint32_t width)
{
    float part[LANES] = {0.0f};
    for (uint32_t i = 0; i < width; i += LANES) {
        for (uint32_t k = 0; k < LANES; k++) {
            const float d = a[i + k] - b[i + k];
            part[k] += d * d;
        }
    }
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
}

uint32_t gbsi_vocabulary_word(const gbsi_vocabulary *v, const float *point)
{
    uint32_t best = 0;
    float nearest = squared_distance(v->centre, point, v->width);
    for (uint32_t c = 1; c < v->n; c++) {
        const float d = squared_distance(v->centre + (size_t)c * v->width, point, v->width);
        best = d < nearest ? c : best;
        nearest = d < nearest ? d : nearest;
    }
    return best;
}

static bool stops(const search *s, uint32_t member, uint64_t n_operations)
{
    gbsi_watch *watch = &s->work->watch;
    return member == 0 ? gbsi_watch_spend(watch, n_operations) : gbsi_watch_stopped(watch);
}

/* ---- where to begin -------------------------------------------------------------------------- */

static void approach(void *context, uint32_t member)
{
    search *s = context;
    const float *centre = s->v->centre + (size_t)s->latest * s->v->width;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(s->n, 16, member, gbsi_pool_size(s->work->pool), &first, &end);
    for (uint64_t i = first; i < end && !stops(s, member, s->v->width / 4); i++) {
        const float d = squared_distance(centre, s->point[i], s->v->width);
        s->distance[i] = s->latest == 0 || d < s->distance[i] ? d : s->distance[i];
    }
}

/* @return a point, drawn with a probability proportional to its squared distance; n if all
 * distances are 0. */
static size_t draw_point(const search *s, uint64_t seed, uint32_t stream, uint32_t place)
{
    const uint32_t high = gbsi_word(seed, stream, 0, 2 * (uint64_t)place, GBSI_PURPOSE_VOCABULARY);
    const uint32_t low =
        gbsi_word(seed, stream, 0, 2 * (uint64_t)place + 1, GBSI_PURPOSE_VOCABULARY);
    double sum = 0.0;
    double below = 0.0;
    size_t last = s->n;
    for (size_t i = 0; i < s->n; i++) {
        sum += (double)s->distance[i];
    }
    const double wanted = gbsi_uniform(high, low) * sum;
    for (size_t i = 0; i < s->n && sum > 0.0; i++) {
        below += (double)s->distance[i];
        last = s->distance[i] > 0.0f ? i : last;
        if (below > wanted) {
            break;
        }
    }
    return last;
}

static void begin(search *s, uint64_t seed, uint32_t stream)
{
    const uint32_t most = s->v->n;
    const size_t bytes = s->v->width * sizeof(float);
    for (size_t i = 0; i < s->n; i++) {
        s->distance[i] = 1.0f; /* at first, all points have the same probability to be drawn */
    }
    for (s->v->n = 0; s->v->n < most && !gbsi_watch_stopped(&s->work->watch); s->v->n++) {
        const size_t i = draw_point(s, seed, stream, s->v->n);
        if (i == s->n) {
            break;
        }
        s->latest = s->v->n;
        memcpy(s->v->centre + (size_t)s->latest * s->v->width, s->point[i], bytes);
        gbsi_pool_run(s->work->pool, approach, s);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void assign(void *context, uint32_t member)
{
    search *s = context;
    uint64_t first = 0;
    uint64_t end = 0;
    s->moved[member] = false;
    gbsi_pool_share(s->n, 16, member, gbsi_pool_size(s->work->pool), &first, &end);
    for (uint64_t i = first; i < end && !stops(s, member, (uint64_t)s->v->n * s->v->width / 4 + 1);
         i++) {
        const uint32_t word = gbsi_vocabulary_word(s->v, s->point[i]);
        s->moved[member] = s->moved[member] || word != s->word[i];
        s->word[i] = word;
    }
}

/* Moves each centre to the mean of its points. A centre without points stays. */
static void centre(search *s, double *sum, uint32_t *count)
{
    const uint32_t width = s->v->width;
    memset(sum, 0, (size_t)s->v->n * width * sizeof *sum);
    memset(count, 0, s->v->n * sizeof *count);
    for (size_t i = 0; i < s->n; i++) {
        double *of_word = sum + (size_t)s->word[i] * width;
        for (uint32_t k = 0; k < width; k++) {
            of_word[k] += (double)s->point[i][k];
        }
        count[s->word[i]]++;
    }
    for (uint32_t c = 0; c < s->v->n; c++) {
        for (uint32_t k = 0; k < width && count[c] > 0; k++) {
            s->v->centre[(size_t)c * width + k] =
                (float)(sum[(size_t)c * width + k] / (double)count[c]);
        }
    }
}

static gbs_status refine(search *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    double *sum = gbsi_alloc_array((size_t)s->v->n * s->v->width, sizeof *sum);
    uint32_t *count = gbsi_alloc_array(s->v->n, sizeof *count);
    GBSI_TRY(GBSI_HAVE(err, "words", sum, count));
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bool moved = round == 0;
        gbsi_pool_run(s->work->pool, assign, s);
        for (uint32_t m = 0; m < gbsi_pool_size(s->work->pool); m++) {
            moved = moved || s->moved[m];
        }
        if (!moved || gbsi_watch_stopped(&s->work->watch)) {
            break;
        }
        centre(s, sum, count);
    }
cleanup:
    GBSI_FREE(sum, count);
    return status;
}

gbs_status gbsi_vocabulary_learn(gbsi_work *work, const float *point, size_t n_points,
                                 uint64_t seed, uint32_t stream, gbsi_vocabulary *v, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = n_points < MOST_POINTS ? n_points : MOST_POINTS;
    const uint32_t wanted = v->n < n ? v->n : (uint32_t)n;
    search s = {.work = work,
                .v = v,
                .n = n,
                .point = gbsi_alloc_array(n, sizeof *s.point),
                .distance = gbsi_alloc_array(n, sizeof *s.distance),
                .word = gbsi_alloc_array_zero(n, sizeof *s.word),
                .moved = gbsi_alloc_array_zero(gbsi_pool_size(work->pool), sizeof *s.moved)};
    v->n = wanted;
    v->centre = gbsi_alloc_array((size_t)wanted * v->width, sizeof *v->centre);
    if (s.point == NULL || s.distance == NULL || s.word == NULL || s.moved == NULL ||
        v->centre == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "words", (size_t)wanted * v->width * sizeof *v->centre));
    }
    for (size_t i = 0; i < n; i++) {
        s.point[i] = point + i * n_points / n * v->width;
    }
    begin(&s, seed, stream);
    GBSI_TRY(refine(&s, err));
    if (gbsi_watch_stopped(&work->watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "learning"));
    }
cleanup:
    GBSI_FREE(s.point, s.distance, s.word, s.moved);
    return status;
}
