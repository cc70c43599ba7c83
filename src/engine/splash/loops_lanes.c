/* SPDX-License-Identifier: Apache-2.0 */
/* Sum-product on the tree of a splash [M35], sixteen chains at once, in weights rather than
 * logarithms. The table of a clique is a product: of its operands, and of the factors that join its
 * own variable to variables outside the splash. The table is never stored: each pass, up and down,
 * computes its entries once. The product of the operands that do not depend on the inner axes is
 * computed once for all joint states of the inner axes. Most entries therefore cost one fused
 * multiply-add.
 *
 * Every operand has a largest entry of at most 1 and a known smallest entry. If the product of the
 * smallest entries is below LEAST, logs.c computes the chain instead. In the other chains no entry
 * underflows, even if the entry is multiplied by further factors. */
#include "splash/loops.h"

#include <math.h>
#include <string.h>

#include "kernel/state.h"
#include "simd/math_lanes.h"

#define LEAST 0x1p-100F

#define ROW GBSI_LANES

GBSI_INLINE vu states_of(const gbsi_splash_view *view, uint32_t slot)
{
    if (view->lanes == GBSI_LANES) {
        return view->value_bytes == 1 ? state16(view->state[0], slot, false)
                                      : state16(view->state[0], slot, true);
    }
    uint32_t x[GBSI_LANES];
    for (uint32_t lane = 0; lane < GBSI_LANES; ++lane) {
        x[lane] = gbsi_view_at(view, slot, lane);
    }
    return vu_load(x);
}

/* ---- factors with variables outside the splash ---------------------------------------------- */

/* Replaces logarithms by weights of which the largest is 1. @return the smallest weight that is not
 * 0. */
static vf to_weights(float *row, uint32_t n)
{
    vf top = vf_set1(-3.0e38F);
    vf low = vf_set1(0.0F);
    for (uint32_t a = 0; a < n; ++a) {
        top = vf_max(top, vf_load(row + (size_t)a * ROW));
    }
    for (uint32_t a = 0; a < n; ++a) {
        const vf log = vf_sub(vf_load(row + (size_t)a * ROW), top);
        low = vf_min(low, vf_select(vf_eq(log, vf_set1(-INFINITY)), vf_set1(0.0F), log));
        vf_store(row + (size_t)a * ROW, vf_exp_low(log));
    }
    return vf_exp_low(low);
}

static void base_of_clique(const gbsi_splash_job *job, uint32_t i)
{
    const gbsi_potentials *p = job->potentials;
    const gbsi_splash_program *program = job->program;
    const gbsi_splash_clique *c = &program->clique[i];
    float *base = job->work->base + (size_t)c->base * ROW;
    const float *field = p->field + p->field_start[c->slot];
    for (uint32_t a = 0; a < c->arity; ++a) {
        vf_store(base + (size_t)a * ROW, vf_set1(field[a]));
    }
    for (uint32_t o = 0; o < c->n_outer; ++o) {
        const gbsi_splash_outer *outer = &program->outer[c->first_outer + o];
        const vu x = states_of(job->view, outer->slot);
        vu at = vu_add(vu_mul(x, vu_set1(c->arity)), vu_set1(outer->table));
        for (uint32_t a = 0; a < c->arity; ++a, at = vu_add(at, vu_set1(1))) {
            float *row = base + (size_t)a * ROW;
            vf_store(row, vf_add(vf_load(row), vf_gather(p->log, at)));
        }
    }
    for (uint32_t m = 0; m < c->n_given; ++m) {
        const float *many = job->work->many + (size_t)program->many[c->first_given + m].at * ROW;
        for (uint32_t a = 0; a < c->arity * ROW; a += ROW) {
            vf_store(base + a, vf_add(vf_load(base + a), vf_load(many + a)));
        }
    }
    vf least = to_weights(base, c->arity);
    for (uint32_t o = 0; o < c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &program->operand[c->first_operand + o];
        if (operand->kind == GBSI_SPLASH_MANY) {
            least = vf_mul(least, to_weights(job->work->many + (size_t)operand->at * ROW,
                                             program->many[operand->number].n_entries));
        }
    }
    vf_store(job->work->least + (size_t)i * ROW, least);
}

static void base(const gbsi_splash_job *job)
{
    for (uint32_t i = 0; i < job->program->n; ++i) {
        base_of_clique(job, i);
    }
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Products of the operands that depend on at most the first `depth` axes, for each depth, for own
 * states `first` to first + k. */
typedef struct walk {
    const gbsi_splash_job *job;
    const gbsi_splash_clique *c;
    const gbsi_splash_operand *operand;  /* operands of the clique, sorted by depth */
    uint32_t end[GBSI_SPLASH_WIDTH + 1]; /* end of the operands of this depth or a smaller one */
    const float *part[GBSI_SPLASH_WIDTH + 1];
    uint32_t x[GBSI_SPLASH_WIDTH + 1];
    uint32_t first, k;
    float *partial; /* scratch of the thread */
} walk;

/* Position of an operand at the current states of the first n axes. `scalar`: the operand has one
 * number for all chains. */
typedef struct place {
    const float *at;
    uint32_t step; /* distance, in floats, between the entries for two successive states of the last
                      axis */
    bool scalar;
} place;

GBSI_INLINE place place_of(const walk *w, const gbsi_splash_operand *operand, uint32_t n)
{
    const gbsi_splash_job *job = w->job;
    uint32_t at = operand->at + w->first;
    for (uint32_t j = 0; j < n; ++j) {
        at += w->x[j] * operand->stride[j];
    }
    switch ((gbsi_operand_kind)operand->kind) {
    case GBSI_SPLASH_LINK:
        return (place){job->potentials->weight + at, operand->stride[n], true};
    case GBSI_SPLASH_MANY:
        return (place){job->work->many + (size_t)at * ROW, operand->stride[n] * ROW, false};
    default:
        return (place){job->work->message + (size_t)at * ROW, operand->stride[n] * ROW, false};
    }
}

GBSI_INLINE vf entry(place p, uint32_t a)
{
    return p.scalar ? vf_set1(p.at[a]) : vf_load(p.at + (size_t)a * ROW);
}

static void multiply(float *out, const float *in, place p, uint32_t k)
{
    for (uint32_t a = 0; a < k; ++a) {
        vf_store(out + (size_t)a * ROW, vf_mul(vf_load(in + (size_t)a * ROW), entry(p, a)));
    }
}

static float *scratch_of(const walk *w, uint32_t depth)
{
    return w->partial + (size_t)depth * w->job->potentials->plan->max_arity * ROW;
}

/* Computes part[depth] from part[depth - 1]. */
static void enter(walk *w, uint32_t depth)
{
    const uint32_t first = depth == 0 ? 0 : w->end[depth - 1];
    const float *in = depth == 0 ? w->job->work->base + (size_t)(w->c->base + w->first) * ROW
                                 : w->part[depth - 1];
    float *out = scratch_of(w, depth);
    for (uint32_t o = first; o < w->end[depth]; ++o) {
        multiply(out, in, place_of(w, &w->operand[o], depth), w->k);
        in = out;
    }
    w->part[depth] = in;
}

/* The part of a clique's table that a thread computes: strips along the last axis, own states. */
typedef struct share {
    uint32_t strip, n_strips, first, k;
} share;

static share whole_of(const gbsi_splash_clique *c)
{
    share whole = {.n_strips = 1, .k = c->arity};
    for (uint32_t j = 0; j + 1 < c->n_axes; ++j) {
        whole.n_strips *= c->axis_arity[j];
    }
    return whole;
}

static walk begin(const gbsi_splash_job *job, uint32_t i, const share *part, float *partial)
{
    const gbsi_splash_clique *c = &job->program->clique[i];
    walk w = {.job = job,
              .c = c,
              .operand = job->program->operand + c->first_operand,
              .first = part->first,
              .k = part->k,
              .partial = partial};
    for (uint32_t j = c->n_axes, strip = part->strip; j-- > 1; strip /= c->axis_arity[j - 1]) {
        w.x[j - 1] = strip % c->axis_arity[j - 1];
    }
    for (uint32_t depth = 0, o = 0; depth <= c->n_axes; ++depth) {
        while (o < c->n_operands && w.operand[o].depth == depth) {
            ++o;
        }
        w.end[depth] = o;
    }
    for (uint32_t depth = 0; depth < c->n_axes || depth == 0; ++depth) {
        enter(&w, depth);
    }
    return w;
}

/* Moves to the next joint state of all axes except the last. @return false after the last
 * combination. */
static bool advance(walk *w)
{
    uint32_t j = w->c->n_axes - 1;
    for (;;) {
        if (j == 0) {
            return false;
        }
        --j;
        if (++w->x[j] < w->c->axis_arity[j]) {
            break;
        }
        w->x[j] = 0;
    }
    for (uint32_t depth = j + 1; depth < w->c->n_axes; ++depth) {
        enter(w, depth);
    }
    return true;
}

static uint32_t row_of(const walk *w)
{
    uint32_t row = w->c->message;
    for (uint32_t j = 0; j + 1 < w->c->n_axes; ++j) {
        row += w->x[j] * w->c->row_stride[j];
    }
    return row;
}

/* ---- up -------------------------------------------------------------------------------------- */

/* The rows along the last axis. Each row sums part * first * second over the own states. */
typedef struct strip {
    const float *part;
    place first, second;
    uint32_t n; /* number of states of the last axis */
    float *out; /* output row for the first state of the last axis */
    size_t out_step;
} strip;

GBSI_INLINE void sum_strip(strip s, const uint32_t k, const bool two, const bool scalar_first,
                           const bool scalar_second)
{
    s.first.scalar = scalar_first;
    s.second.scalar = scalar_second;
    for (uint32_t x = 0; x < s.n; ++x) {
        vf sum = vf_set1(0.0F);
        for (uint32_t a = 0; a < k; ++a) {
            vf t = vf_load(s.part + (size_t)a * ROW);
            t = two ? vf_mul(t, entry(s.first, a)) : t;
            sum = vf_fma(t, entry(two ? s.second : s.first, a), sum);
        }
        vf_store(s.out, sum);
        s.out += s.out_step;
        s.first.at += s.first.step;
        s.second.at += s.second.step;
    }
}

GBSI_INLINE void sum_kinds(const strip *s, const uint32_t k, bool two)
{
    if (!two && s->first.scalar) {
        sum_strip(*s, k, false, true, true);
    } else if (!two) {
        sum_strip(*s, k, false, false, false);
    } else if (s->first.scalar && s->second.scalar) {
        sum_strip(*s, k, true, true, true);
    } else if (s->first.scalar) {
        sum_strip(*s, k, true, true, false);
    } else {
        sum_strip(*s, k, true, false, false);
    }
}

static void sum_any(const strip *s, uint32_t k, bool two)
{
    switch (k) {
    case 2:
        sum_kinds(s, 2, two);
        return;
    case 3:
        sum_kinds(s, 3, two);
        return;
    case 4:
        sum_kinds(s, 4, two);
        return;
    case 5:
        sum_kinds(s, 5, two);
        return;
    default:
        sum_kinds(s, k, two);
        return;
    }
}

/* Sums over more than two operands: first multiplies all operands except the last one, state by
 * state of the last axis. */
static void sum_many(walk *w, strip s, uint32_t first, uint32_t end)
{
    const uint32_t last = w->c->n_axes - 1;
    float *tmp = scratch_of(w, w->c->n_axes);
    for (w->x[last] = 0; w->x[last] < s.n; ++w->x[last]) {
        strip one = s;
        const float *in = s.part;
        for (uint32_t o = first; o + 1 < end; ++o) {
            multiply(tmp, in, place_of(w, &w->operand[o], last + 1), w->k);
            in = tmp;
        }
        one.part = in;
        one.first = place_of(w, &w->operand[end - 1], last + 1);
        one.n = 1;
        one.out = s.out + w->x[last] * s.out_step;
        sum_any(&one, w->k, false);
    }
    w->x[last] = 0;
}

static void sum_walk(walk *w, uint32_t n_strips)
{
    const gbsi_splash_clique *c = w->c;
    const uint32_t last = c->n_axes - 1;
    const uint32_t first = w->end[last];
    const uint32_t end = w->end[c->n_axes];
    do {
        strip s = {.part = w->part[last],
                   .n = c->axis_arity[last],
                   .out = w->job->work->message + (size_t)row_of(w) * ROW,
                   .out_step = (size_t)c->row_stride[last] * ROW};
        if (end - first > 2) {
            sum_many(w, s, first, end);
            continue;
        }
        s.first = place_of(w, &w->operand[first], last);
        s.second = s.first;
        if (end - first == 2) {
            s.second = place_of(w, &w->operand[first + 1], last);
        }
        sum_any(&s, w->k, end - first == 2);
    } while (--n_strips > 0 && advance(w));
}

/* ---- teams ----------------------------------------------------------------------------------- */

/* A step of one clique that the members of a team do together. */
typedef struct step {
    const gbsi_splash_job *job;
    uint32_t i; /* the clique */
    uint32_t n; /* number of things that are shared */
    uint32_t n_members;
    float *message; /* message of the clique */
    float *over;    /* row: factor of a message */
    void (*run)(const struct step *step, uint32_t member, uint32_t first, uint32_t end);
} step;

static void run_member(void *context, uint32_t member)
{
    const step *s = context;
    uint64_t first = 0;
    uint64_t end = 0;
    gbsi_pool_share(s->n, 1, member, s->n_members, &first, &end);
    s->run(s, member, (uint32_t)first, (uint32_t)end);
}

/* Runs a step by the team if the clique is large, otherwise by this thread. */
static void run_step(step *s, uint32_t n,
                     void (*run)(const step *step, uint32_t member, uint32_t first, uint32_t end))
{
    const gbsi_splash_team *team = s->job->team;
    s->n = n;
    s->run = run;
    if (s->n_members == 1) {
        run(s, 0, 0, n);
    } else {
        gbsi_pool_run(team->pool, run_member, s);
    }
}

static step step_of(const gbsi_splash_job *job, uint32_t i)
{
    const gbsi_splash_clique *c = &job->program->clique[i];
    const bool shared = job->team != NULL && gbsi_splash_entries(c) >= GBSI_SPLASH_SHARED;
    return (step){.job = job,
                  .i = i,
                  .n_members = shared ? job->team->n : 1,
                  .message = job->work->message + (size_t)c->message * ROW,
                  .over = job->work->scale + (size_t)i * ROW};
}

/* The cliques of one level of the tree. None reads what another one writes. */
typedef struct level {
    const gbsi_splash_job *job;
    uint32_t end;
    unsigned (*run)(const gbsi_splash_job *job, uint32_t i);
    _Atomic uint32_t next; /* place, in by_level, of the next clique to compute */
    _Atomic unsigned bad;  /* what the calls of `run` returned, joined */
} level;

/* Computes cliques of a level, one after the other, until no clique is left. Leaves out those whose
 * tables the team shares. */
static void take_cliques(void *context, uint32_t member)
{
    level *v = context;
    gbsi_splash_work work = *v->job->work;
    gbsi_splash_job own = *v->job;
    unsigned bad = 0;
    work.partial = own.team->partial[member];
    own.work = &work;
    own.team = NULL;
    for (uint32_t k = v->next++; k < v->end; k = v->next++) {
        const uint32_t i = own.program->by_level[k];
        if (gbsi_splash_entries(&own.program->clique[i]) < GBSI_SPLASH_SHARED) {
            bad |= v->run(&own, i);
        }
    }
    v->bad |= bad;
}

/* Computes the cliques of a level. The team shares the table of each large clique, and then divides
 * the smaller cliques if their work pays. @return what the calls of `run` returned, joined. */
static unsigned run_level(const gbsi_splash_job *job, uint32_t l,
                          unsigned (*run)(const gbsi_splash_job *job, uint32_t i))
{
    const gbsi_splash_program *p = job->program;
    const uint32_t begin = gbsi_splash_level_begin(p, l);
    const bool divided = gbsi_splash_level_entries(p, l) >= GBSI_SPLASH_SHARED;
    level v = {.job = job, .end = p->level_end[l], .run = run, .next = begin};
    unsigned bad = 0;
    for (uint32_t k = begin; k < v.end; ++k) {
        const uint32_t i = p->by_level[k];
        if (!divided || gbsi_splash_entries(&p->clique[i]) >= GBSI_SPLASH_SHARED) {
            bad |= run(job, i);
        }
    }
    if (divided) {
        gbsi_pool_run(job->team->pool, take_cliques, &v);
    }
    return bad | v.bad;
}

static float *partial_of(const step *s, uint32_t member)
{
    return s->n_members == 1 ? s->job->work->partial : s->job->team->partial[member];
}

/* ---- up, by cliques -------------------------------------------------------------------------- */

static void sum_strips(const step *s, uint32_t member, uint32_t first, uint32_t end)
{
    const share part = {.strip = first, .k = s->job->program->clique[s->i].arity};
    if (first < end) {
        walk w = begin(s->job, s->i, &part, partial_of(s, member));
        sum_walk(&w, end - first);
    }
}

/* Finds the largest entry of rows of a message, and the smallest entry that is not 0. @param
 * extreme [2] rows, out. */
static void find_extremes(const float *message, uint32_t first, uint32_t end, float *extreme)
{
    vf top = vf_set1(0.0F);
    vf low = vf_set1(INFINITY);
    for (uint32_t r = first; r < end; ++r) {
        const vf m = vf_load(message + (size_t)r * ROW);
        top = vf_max(m, top);
        low = vf_min(vf_select(vf_lt(vf_set1(0.0F), m), m, vf_set1(INFINITY)), low);
    }
    vf_store(extreme, top);
    vf_store(extreme + ROW, low);
}

static void find_share(const step *s, uint32_t member, uint32_t first, uint32_t end)
{
    find_extremes(s->message, first, end, s->job->team->extreme + (size_t)member * 2 * ROW);
}

static void scale_rows(const step *s, uint32_t member, uint32_t first, uint32_t end)
{
    const vf over = vf_load(s->over);
    (void)member;
    for (uint32_t r = first; r < end; ++r) {
        float *row = s->message + (size_t)r * ROW;
        vf_store(row, vf_mul(vf_load(row), over));
    }
}

/* Scales a message so that its largest entry is 1. @param least out: the smallest entry that is not
 * 0. @return lanes without weight. */
static unsigned normalise(step *s, uint32_t n_rows, float *least)
{
    float extreme[2 * ROW];
    vf top = vf_set1(0.0F);
    vf low = vf_set1(INFINITY);
    const float *found = extreme;
    if (s->n_members == 1) {
        find_extremes(s->message, 0, n_rows, extreme);
    } else {
        run_step(s, n_rows, find_share);
        found = s->job->team->extreme;
    }
    for (uint32_t m = 0; m < s->n_members; ++m, found += (size_t)2 * ROW) {
        top = vf_max(vf_load(found), top);
        low = vf_min(vf_load(found + ROW), low);
    }
    const vm dead = vm_not(vf_lt(vf_set1(0.0F), top));
    const vf over = vf_div(vf_set1(1.0F), vf_select(dead, vf_set1(1.0F), top));
    vf_store(s->over, over);
    run_step(s, n_rows, scale_rows);
    vf_store(least, vf_mul(low, over));
    return vm_bits(dead);
}

/* Lanes in which a product of operands may be smaller than LEAST. */
static unsigned out_of_range(const gbsi_splash_job *job, uint32_t i)
{
    const gbsi_splash_work *work = job->work;
    const gbsi_splash_clique *c = &job->program->clique[i];
    vf least = vf_load(work->least + (size_t)i * ROW);
    for (uint32_t o = 0; o < c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[c->first_operand + o];
        if (operand->kind == GBSI_SPLASH_LINK) {
            least = vf_mul(least, vf_set1(operand->least));
        } else if (operand->kind == GBSI_SPLASH_MESSAGE) {
            least = vf_mul(least, vf_load(work->least + (size_t)operand->child * ROW));
        }
    }
    return vm_bits(vm_not(vf_le(vf_set1(LEAST), least)));
}

/* The message of a root, whose separator is empty: the sum over its own states. */
static void sum_root(const step *s)
{
    const share whole = whole_of(&s->job->program->clique[s->i]);
    const walk w = begin(s->job, s->i, &whole, s->job->work->partial);
    vf sum = vf_set1(0.0F);
    for (uint32_t a = 0; a < w.k; ++a) {
        sum = vf_add(sum, vf_load(w.part[0] + (size_t)a * ROW));
    }
    vf_store(s->message, sum);
}

static unsigned up_clique(const gbsi_splash_job *job, uint32_t i)
{
    const gbsi_splash_clique *c = &job->program->clique[i];
    step s = step_of(job, i);
    unsigned bad = out_of_range(job, i);
    if (c->n_axes == 0) {
        sum_root(&s);
    } else {
        run_step(&s, whole_of(c).n_strips, sum_strips);
    }
    bad |= normalise(&s, c->n_rows, job->work->least + (size_t)i * ROW);
    return bad;
}

static unsigned up(const gbsi_splash_job *job)
{
    unsigned bad = 0;
    if (job->team != NULL) {
        for (uint32_t l = job->program->n_levels; l-- > 0;) {
            bad |= run_level(job, l, up_clique);
        }
        return bad;
    }
    for (uint32_t i = job->program->n; i-- > 0;) {
        bad |= up_clique(job, i);
    }
    return bad;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Looks up, for each lane, the entry of a table in the row that the lane names. */
GBSI_INLINE vf gather_rows(const float *table, vu row)
{
    return vf_gather(table, vu_add(vu_shl(row, 4), vu_iota()));
}

static unsigned weigh(const gbsi_splash_job *job, uint32_t i, unsigned bad)
{
    const gbsi_splash_clique *c = &job->program->clique[i];
    const gbsi_splash_work *work = job->work;
    float *w = work->w;
    memcpy(w, work->base + (size_t)c->base * ROW, (size_t)c->arity * ROW * sizeof *w);
    for (uint32_t o = 0; o < c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[c->first_operand + o];
        vu at = vu_set1(operand->at);
        for (uint32_t j = 0; j < operand->depth; ++j) {
            const vu x = vu_load(work->x + (size_t)c->variable[j] * ROW);
            at = vu_add(at, vu_mul(x, vu_set1(operand->stride[j])));
        }
        for (uint32_t a = 0; a < c->arity; ++a, at = vu_add(at, vu_set1(1))) {
            const vf entry =
                operand->kind == GBSI_SPLASH_LINK
                    ? vf_gather(job->potentials->weight, at)
                    : gather_rows(operand->kind == GBSI_SPLASH_MANY ? work->many : work->message,
                                  at);
            float *row = w + (size_t)a * ROW;
            vf_store(row, vf_mul(vf_load(row), entry));
        }
    }
    vf top = vf_set1(0.0F);
    for (uint32_t a = 0; a < c->arity; ++a) {
        top = vf_max(vf_load(w + (size_t)a * ROW), top);
    }
    const vm skip = vm_from_bits(bad);
    const vm dead = vm_andnot(vm_not(vf_lt(vf_set1(0.0F), top)), skip);
    const vm one = vm_or(skip, dead);
    const vf over = vf_div(vf_set1(1.0F), vf_select(one, vf_set1(1.0F), top));
    for (uint32_t a = 0; a < c->arity; ++a) {
        float *row = w + (size_t)a * ROW;
        vf_store(row, vf_select(one, vf_set1(1.0F), vf_mul(vf_load(row), over)));
    }
    return vm_bits(dead);
}

/* ---- down ------------------------------------------------------------------------------------ */

static void clear_children(const gbsi_splash_job *job, const gbsi_splash_clique *c)
{
    for (uint32_t o = 0; o < c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[c->first_operand + o];
        if (operand->kind == GBSI_SPLASH_MESSAGE) {
            const gbsi_splash_clique *child = &job->program->clique[operand->child];
            memset(job->work->q + (size_t)child->message * ROW, 0,
                   (size_t)child->n_rows * ROW * sizeof(float));
        }
    }
}

static void add_rows(float *to, const float *from, uint32_t k)
{
    for (uint32_t a = 0; a < k; ++a) {
        float *row = to + (size_t)a * ROW;
        vf_store(row, vf_add(vf_load(row), vf_load(from + (size_t)a * ROW)));
    }
}

/* Adds k rows of beliefs b to the separator marginals of those children whose messages depend on
 * exactly `depth` axes. */
static void give_children(const walk *w, uint32_t depth, uint32_t n_fixed, const float *b)
{
    const uint32_t first = depth == 0 ? 0 : w->end[depth - 1];
    for (uint32_t o = first; o < w->end[depth]; ++o) {
        if (w->operand[o].kind == GBSI_SPLASH_MESSAGE) {
            uint32_t at = w->operand[o].at + w->first;
            for (uint32_t j = 0; j < n_fixed; ++j) {
                at += w->x[j] * w->operand[o].stride[j];
            }
            add_rows(w->job->work->q + (size_t)at * ROW, b, w->k);
        }
    }
}

/* Processes one strip of the last axis: computes b = scale * part * product of the operands, and
 * adds b to `sum`. */
static void down_strip(walk *w, vf scale, float *sum)
{
    const gbsi_splash_clique *c = w->c;
    const uint32_t last = c->n_axes - 1;
    const float *rho = w->job->work->message + (size_t)row_of(w) * ROW;
    float *b = scratch_of(w, c->n_axes);
    memset(sum, 0, (size_t)w->k * ROW * sizeof *sum);
    for (w->x[last] = 0; w->x[last] < c->axis_arity[last]; ++w->x[last]) {
        const vf over =
            vf_mul(vf_load(rho + (size_t)w->x[last] * c->row_stride[last] * ROW), scale);
        const float *in = w->part[last];
        for (uint32_t o = w->end[last]; o < w->end[c->n_axes]; ++o) {
            multiply(b, in, place_of(w, &w->operand[o], c->n_axes), w->k);
            in = b;
        }
        for (uint32_t a = 0; a < w->k; ++a) {
            const vf t = vf_mul(vf_load(in + (size_t)a * ROW), over);
            vf_store(b + (size_t)a * ROW, t);
            vf_store(sum + (size_t)a * ROW, vf_add(vf_load(sum + (size_t)a * ROW), t));
        }
        give_children(w, c->n_axes, c->n_axes, b);
    }
    w->x[last] = 0;
}

/* Replaces rows of the message of clique s->i by q / message; 0 where the message is 0. */
static void divide_rows(const step *s, uint32_t member, uint32_t first, uint32_t end)
{
    const size_t base = (size_t)s->job->program->clique[s->i].message * ROW;
    (void)member;
    for (size_t r = base + (size_t)first * ROW; r < base + (size_t)end * ROW; r += ROW) {
        const vf m = vf_load(s->job->work->message + r);
        const vf ratio = vf_div(vf_load(s->job->work->q + r), m);
        const vm some = vf_lt(vf_set1(0.0F), m);
        vf_store(s->job->work->message + r, vf_select(some, ratio, vf_set1(0.0F)));
    }
}

static void divide_children(const gbsi_splash_job *job, const gbsi_splash_clique *c)
{
    for (uint32_t o = 0; o < c->n_operands; ++o) {
        const gbsi_splash_operand *operand = &job->program->operand[c->first_operand + o];
        if (operand->kind == GBSI_SPLASH_MESSAGE) {
            step s = step_of(job, operand->child);
            run_step(&s, job->program->clique[operand->child].n_rows, divide_rows);
        }
    }
}

/* Divides marginals by their total, which is not exactly 1 because of rounding. */
static void share_out(float *p, uint32_t k)
{
    vf sum = vf_set1(0.0F);
    for (uint32_t a = 0; a < k; ++a) {
        sum = vf_add(sum, vf_load(p + (size_t)a * ROW));
    }
    const vf over = vf_div(vf_set1(1.0F), sum);
    for (uint32_t a = 0; a < k; ++a) {
        float *row = p + (size_t)a * ROW;
        vf_store(row, vf_mul(vf_load(row), over));
    }
}

/* Sums up the beliefs of own states `first` to `end`, and adds them to the children's separators.
 * Own states are separate rows of all these sums. */
static void down_states(const step *s, uint32_t member, uint32_t first, uint32_t end)
{
    const gbsi_splash_work *work = s->job->work;
    const gbsi_splash_clique *c = &s->job->program->clique[s->i];
    const vf scale = vf_load(s->over);
    float *p = work->p + (size_t)(c->base + first) * ROW;
    const share part = {.first = first, .k = end - first};
    if (first == end) {
        return;
    }
    walk w = begin(s->job, s->i, &part, partial_of(s, member));
    memset(p, 0, (size_t)w.k * ROW * sizeof *p);
    if (c->n_axes == 0) { /* the message of a root is 1 */
        for (uint32_t a = 0; a < w.k; ++a) {
            vf_store(p + (size_t)a * ROW, vf_mul(vf_load(w.part[0] + (size_t)a * ROW), scale));
        }
    } else {
        float *sum = scratch_of(&w, c->n_axes + 1);
        do {
            down_strip(&w, scale, sum);
            add_rows(p, sum, w.k);
            for (uint32_t depth = 1; depth < c->n_axes; ++depth) {
                give_children(&w, depth, c->n_axes - 1, sum);
            }
        } while (advance(&w));
    }
    give_children(&w, 0, 0, p);
}

static unsigned down_clique(const gbsi_splash_job *job, uint32_t i)
{
    const gbsi_splash_clique *c = &job->program->clique[i];
    step s = step_of(job, i);
    clear_children(job, c);
    run_step(&s, c->arity, down_states);
    divide_children(job, c);
    share_out(job->work->p + (size_t)c->base * ROW, c->arity);
    return 0;
}

static void down(const gbsi_splash_job *job)
{
    for (uint32_t l = 0; job->team != NULL && l < job->program->n_levels; ++l) {
        (void)run_level(job, l, down_clique);
    }
    for (uint32_t i = 0; job->team == NULL && i < job->program->n; ++i) {
        (void)down_clique(job, i);
    }
}

const gbsi_splash_loops GBSI_V(gbsi_splash_loops) = {
    .base = base, .up = up, .weigh = weigh, .down = down};
