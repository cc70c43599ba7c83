/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the tables of keys: the coding of every slot, and the conditional of every code of a slot
 * with a dense table. For shared keys, also finds the classes of codes with equal conditionals. */
#include "draw/keys.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "draw/key_codes.h"

void gbsi_keys_free(gbsi_keys *keys)
{
    GBSI_FREE(keys->slot, keys->link, keys->step, keys->lut, keys->chance, keys->certain, keys->p,
              keys->name, keys->whole_step);
    gbsi_conditionals_free(&keys->conditionals);
    *keys = (gbsi_keys){0};
}

/* ---- codes and names ------------------------------------------------------------------------ */

uint64_t gbsi_state_hash(uint32_t variable, uint32_t state)
{
    return gbsi_mix64(((uint64_t)variable << 32 | state) + UINT64_C(0x9E3779B97F4A7C15));
}

uint64_t gbsi_hashed_code(const gbsi_keys *keys, uint32_t slot, const gbsi_view *view)
{
    const gbsi_key_slot *s = &keys->slot[slot];
    const gbsi_plan *plan = keys->plan;
    uint64_t code = 0;
    uint64_t step = 1;
    for (size_t i = s->link; i < s->link + s->n_links; ++i) {
        const uint32_t other = keys->link[i];
        const uint32_t x = gbsi_view_at(view, other);
        if (s->radix) {
            code += step * x;
            step *= gbsi_plan_arity(plan, other);
        } else {
            const uint32_t variable = plan->model->user_variable[plan->variable_of[other]];
            code += gbsi_state_hash(variable, x);
        }
    }
    return code;
}

/* Rounds d to a multiple of 2^-33 times the larger of 1 and the power of two just below |d|. */
static double quantised(double d)
{
    if (!isfinite(d)) {
        return d;
    }
    double unit = 0x1p-33;
    for (double size = fabs(d); size >= 2.0; size *= 0.5) {
        unit *= 2.0;
    }
    const double steps = d / unit; /* below 2^34 */
    const double whole = (steps + 0x1.8p52) - 0x1.8p52;
    return whole * unit + 0.0; /* + 0.0 turns -0 into 0 */
}

uint64_t gbsi_name_conditional(double *logw, uint32_t k)
{
    double reference = -INFINITY;
    for (uint32_t a = 0; a < k && reference == -INFINITY; ++a) {
        reference = logw[a];
    }
    uint64_t name = k;
    for (uint32_t a = 0; a < k; ++a) {
        uint64_t bits = 0;
        logw[a] = reference == -INFINITY ? -INFINITY : quantised(logw[a] - reference);
        memcpy(&bits, &logw[a], sizeof bits);
        name = gbsi_mix64(name + bits + UINT64_C(0x9E3779B97F4A7C15));
    }
    return name;
}

/* ---- room ----------------------------------------------------------------------------------- */

static gbs_status take_slots(const gbsi_key_maker *m, gbsi_keys *keys, gbs_error *err)
{
    const size_t n = m->plan->n_slots;
    const size_t n_links = m->context == NULL ? 0 : m->context->start[n];
    keys->slot = gbsi_alloc_array_zero(n, sizeof *keys->slot);
    keys->link = gbsi_alloc_array(n_links, sizeof *keys->link);
    keys->step = gbsi_alloc_array_zero(n_links, sizeof *keys->step);
    GBSI_PASS(GBSI_HAVE(err, "herding keys", keys->slot, keys->link, keys->step));
    if (n_links > 0) {
        memcpy(keys->link, m->context->neighbour, n_links * sizeof *keys->link);
    }
    return GBS_OK;
}

/* Appends an element to an array of any type. */
#define TAKE(array, capacity, n, what)                                                         \
    do {                                                                                       \
        void *grown = (array);                                                                 \
        status = gbsi_reserve(&grown, &(capacity), (size_t)(n), sizeof *(array), (what), err); \
        if (status < 0) {                                                                      \
            return status;                                                                     \
        }                                                                                      \
        (array) = grown;                                                                       \
    } while (0)

static gbs_status room_for(gbsi_keys *keys, uint64_t n_phases, uint64_t n_shares, uint64_t n_lut,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    TAKE(keys->chance, keys->phase_capacity, n_phases, "herding keys");
    TAKE(keys->certain, keys->certain_capacity, n_phases, "herding keys");
    TAKE(keys->p, keys->share_capacity, n_shares, "herding keys");
    TAKE(keys->lut, keys->lut_capacity, n_lut, "herding keys");
    return status;
}

/* ---- one slot ------------------------------------------------------------------------------- */

/* Hash table, with open addressing, from names of conditionals to keys of one slot. Codes of equal
 * names form a class, which is one key. */
typedef struct classes {
    uint64_t *name; /* [capacity] */
    uint32_t *key;  /* [capacity] key of the name; GBSI_NONE if the place is free */
    size_t capacity;
} classes;

static gbs_status take_classes(classes *c, uint64_t n_codes, gbs_error *err)
{
    size_t capacity = 8;
    while (capacity < 2 * n_codes) {
        capacity *= 2;
    }
    if (capacity > c->capacity) {
        GBSI_FREE(c->name, c->key);
        c->name = gbsi_alloc_array(capacity, sizeof *c->name);
        c->key = gbsi_alloc_array(capacity, sizeof *c->key);
        c->capacity = capacity;
        GBSI_PASS(GBSI_HAVE(err, "herding keys", c->name, c->key));
    }
    memset(c->key, 0xFF, c->capacity * sizeof *c->key);
    return GBS_OK;
}

static uint32_t *class_of(classes *c, uint64_t name)
{
    size_t at = name & (c->capacity - 1);
    while (c->key[at] != GBSI_NONE && c->name[at] != name) {
        at = (at + 1) & (c->capacity - 1);
    }
    c->name[at] = name;
    return &c->key[at];
}

/* Adds a key to the slot, whose conditional is computed from m->logw. */
static gbs_status add_key(const gbsi_key_maker *m, uint32_t slot, gbsi_keys *keys, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t k = gbsi_plan_arity(m->plan, slot);
    double *p = m->logw;
    const bool possible = gbsi_normalise(p, k);
    ++keys->slot[slot].n_keys;
    if (k > 2) {
        TAKE(keys->p, keys->share_capacity, keys->n_shares + k, "herding keys");
        memcpy(keys->p + keys->n_shares, p, k * sizeof *p);
        keys->n_shares += k;
        return GBS_OK;
    }
    const size_t cell = keys->n_phases++;
    TAKE(keys->chance, keys->phase_capacity, keys->n_phases, "herding keys");
    TAKE(keys->certain, keys->certain_capacity, keys->n_phases, "herding keys");
    const gbsi_certain certain = !possible     ? GBSI_NEVER
                                 : p[1] == 0.0 ? GBSI_ALWAYS_0
                                 : p[0] == 0.0 ? GBSI_ALWAYS_1
                                               : GBSI_OPEN;
    keys->certain[cell] = (uint8_t)certain;
    keys->chance[cell] = certain == GBSI_OPEN ? gbsi_chance(p) : 0;
    return GBS_OK;
}

/* Sets the neighbours of a slot to states that have this code. */
static void set_code(const gbsi_key_maker *m, const gbsi_key_slot *s, const gbsi_keys *keys,
                     bool sum, const uint8_t *sign, uint32_t code)
{
    for (uint32_t i = 0; i < s->n_links; ++i) {
        const uint32_t other = keys->link[s->link + i];
        const uint32_t k = gbsi_plan_arity(m->plan, other);
        gbsi_key_maker_put(m, other, sum ? (i < code) != sign[i] : code % k);
        code = sum ? code : code / k;
    }
}

static void clear_code(const gbsi_key_maker *m, const gbsi_key_slot *s, const gbsi_keys *keys)
{
    for (uint32_t i = 0; i < s->n_links; ++i) {
        gbsi_key_maker_put(m, keys->link[s->link + i], 0);
    }
}

static gbs_status tabulate(const gbsi_key_maker *m, uint32_t slot, bool sum, const uint8_t *sign,
                           classes *c, gbsi_keys *keys, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_key_slot *s = &keys->slot[slot];
    const bool shared = m->scheme == GBS_KEYS_SHARED;
    const gbsi_view view = gbsi_key_maker_view(m);
    const uint32_t k = gbsi_plan_arity(m->plan, slot);
    s->cell = k == 2 ? keys->n_phases : keys->n_shares;
    s->lut = shared ? keys->n_lut : GBSI_NO_LUT;
    if (shared) {
        GBSI_TRY(take_classes(c, s->n_codes, err));
    }
    for (uint32_t code = 0; code < s->n_codes; ++code) {
        set_code(m, s, keys, sum, sign, code);
        gbsi_conditional_logw(m->conditionals, slot, &view, m->logw);
        if (!shared) {
            GBSI_TRY(add_key(m, slot, keys, err));
            continue;
        }
        const uint64_t name = gbsi_name_conditional(m->logw, k);
        uint32_t *key = class_of(c, name);
        if (*key == GBSI_NONE) {
            *key = s->n_keys;
            TAKE(keys->name, keys->name_capacity, keys->n_names + 1, "herding keys");
            keys->name[keys->n_names++] = name;
            GBSI_TRY(add_key(m, slot, keys, err));
        }
        TAKE(keys->lut, keys->lut_capacity, keys->n_lut + 1, "herding keys");
        keys->lut[keys->n_lut++] = *key;
    }
    if (shared && s->n_keys == s->n_codes) { /* every class has one code, so that keys are codes */
        keys->n_lut = s->lut;
        s->lut = GBSI_NO_LUT;
    }
cleanup:
    clear_code(m, s, keys);
    return status;
}

static gbsi_coding coding_of(const gbsi_key_maker *m, const gbsi_key_slot *s, const gbsi_keys *keys,
                             bool sum, const uint8_t *sign)
{
    bool binary = true;
    bool turned = false;
    for (uint32_t i = 0; i < s->n_links; ++i) {
        binary &= gbsi_plan_arity(m->plan, keys->link[s->link + i]) == 2;
        turned |= sum && sign[i] != 0;
    }
    if (sum) {
        return s->n_links <= 255 && !turned ? GBSI_CODE_COUNT : GBSI_CODE_RADIX;
    }
    return binary && s->n_links <= 8 ? GBSI_CODE_BITS : GBSI_CODE_RADIX;
}

static void set_steps(const gbsi_key_maker *m, gbsi_key_slot *s, gbsi_keys *keys, bool sum,
                      const uint8_t *sign)
{
    uint32_t step = 1;
    for (uint32_t i = 0; i < s->n_links; ++i) {
        if (sum) {
            keys->step[s->link + i] = sign[i] != 0 ? UINT32_MAX : 1; /* -1 */
            s->offset += sign[i];
        } else {
            keys->step[s->link + i] = step;
            step *= gbsi_plan_arity(m->plan, keys->link[s->link + i]);
        }
    }
}

static gbs_status make_slot(gbsi_key_maker *m, uint32_t slot, uint8_t *sign, classes *c,
                            gbsi_keys *keys, gbs_error *err)
{
    gbsi_key_slot *s = &keys->slot[slot];
    bool sum = false;
    const uint64_t n_codes = gbsi_key_codes(m, slot, &sum, sign);
    char text[80];
    s->link = m->context == NULL ? 0 : m->context->start[slot];
    s->n_links = (uint32_t)gbsi_key_links(m, slot);
    if (m->scheme == GBS_KEYS_SUM && !sum) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--keys: the conditional of variable %s does not depend on a sum of "
                         "its neighbours (binary, with one coupling for all): use --keys shared",
                         gbsi_slot_text(m->plan, slot, text));
    }
    if (n_codes > m->most_codes) {
        s->coding = GBSI_CODE_HASHED;
        s->radix = n_codes < GBSI_MANY_CODES;
        s->cell = keys->n_hashed++;
        return GBS_OK;
    }
    s->n_codes = (uint32_t)n_codes;
    s->coding = (uint8_t)coding_of(m, s, keys, sum, sign);
    set_steps(m, s, keys, sum, sign);
    return tabulate(m, slot, sum, sign, c, keys, err);
}

/* ---- all slots ------------------------------------------------------------------------------- */

/* Computes the mixed-radix steps that number the states of the whole model, if these numbers fit 63
 * bits. */
static gbs_status make_whole_steps(const gbsi_key_maker *m, gbsi_keys *keys, gbs_error *err)
{
    const gbsi_plan *plan = m->plan;
    if (m->whole_codes == GBSI_MANY_CODES) {
        return GBS_OK;
    }
    keys->whole_step = gbsi_alloc_array(plan->n_slots, sizeof *keys->whole_step);
    GBSI_PASS(GBSI_HAVE(err, "herding keys", keys->whole_step));
    uint64_t step = 1;
    for (uint32_t v = 0; v < plan->n_slots; ++v) {
        keys->whole_step[plan->slot_of[v]] = step;
        step *= gbsi_plan_arity(plan, plan->slot_of[v]);
    }
    return GBS_OK;
}

/* Reserves the arrays of keys. The lengths of these arrays are known in advance if keys are codes;
 * with shared keys the arrays grow. */
static gbs_status reserve_all(gbsi_key_maker *m, gbsi_keys *keys, gbs_error *err)
{
    uint64_t n_phases = 0;
    uint64_t n_shares = 0;
    if (m->scheme == GBS_KEYS_SHARED || m->scheme == GBS_KEYS_COMPLETE) {
        return GBS_OK;
    }
    for (uint32_t slot = 0; slot < m->plan->n_slots; ++slot) {
        bool sum = false;
        const uint64_t codes = gbsi_key_codes(m, slot, &sum, NULL);
        const uint32_t k = gbsi_plan_arity(m->plan, slot);
        if (codes <= m->most_codes) {
            n_phases += k == 2 ? codes : 0;
            n_shares += k == 2 ? 0 : codes * k;
        }
    }
    return room_for(keys, n_phases, n_shares, 0, err);
}

/* Drops the array of certainties if no variable has hard zeros. */
static void drop_certain(gbsi_keys *keys)
{
    for (size_t i = 0; i < keys->n_phases; ++i) {
        if (keys->certain[i] != GBSI_OPEN) {
            return;
        }
    }
    gbsi_free(keys->certain);
    keys->certain = NULL;
}

static size_t most_links(const gbsi_key_maker *m)
{
    size_t most = 1;
    for (uint32_t slot = 0; slot < m->plan->n_slots; ++slot) {
        const size_t n = gbsi_key_links(m, slot);
        most = n > most ? n : most;
    }
    return most;
}

gbs_status gbsi_keys_new(const gbsi_draw_job *job, int scheme, gbsi_keys *out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_key_sizes sizes;
    gbsi_key_maker m = {0};
    classes c = {0};
    uint8_t *sign = NULL;
    gbsi_keys keys = {.plan = job->plan, .scheme = scheme};
    GBSI_TRY(gbsi_keys_size(job, scheme, &sizes, err));
    GBSI_TRY(gbsi_key_maker_new(job, scheme, NULL, &m, err));
    m.most_codes = sizes.most_codes;
    sign = gbsi_alloc_array_zero(most_links(&m), 1);
    GBSI_TRY(GBSI_HAVE(err, "herding keys", sign));
    GBSI_TRY(take_slots(&m, &keys, err));
    GBSI_TRY(reserve_all(&m, &keys, err));
    for (uint32_t slot = 0; slot < job->plan->n_slots; ++slot) {
        GBSI_TRY(make_slot(&m, slot, sign, &c, &keys, err));
    }
    drop_certain(&keys);
    if (scheme == GBS_KEYS_COMPLETE) {
        GBSI_TRY(make_whole_steps(&m, &keys, err));
    }
    if (keys.n_hashed > 0) {
        keys.conditionals = m.own.conditionals;
        m.own.conditionals = (gbsi_conditionals){0};
    }
    *out = keys;
    keys = (gbsi_keys){0};
cleanup:
    gbsi_keys_free(&keys);
    gbsi_key_maker_free(&m);
    GBSI_FREE(c.name, c.key, sign);
    return status;
}
