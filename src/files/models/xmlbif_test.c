/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/test_models.h"

#define HEAD "<BIF VERSION=\"0.3\"><NETWORK>\n"
#define TAIL "</NETWORK></BIF>"
#define A    "<VARIABLE><NAME>a</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>\n"
#define B                                                                 \
    "<VARIABLE><NAME>b</NAME><OUTCOME>lo</OUTCOME><OUTCOME>mid</OUTCOME>" \
    "<OUTCOME>hi</OUTCOME></VARIABLE>\n"
#define PA       "<DEFINITION><FOR>a</FOR><TABLE>0.9 0.1</TABLE></DEFINITION>\n"
#define PB(rest) "<DEFINITION><FOR>b</FOR>" rest "</DEFINITION>\n"

static void same_as_uai(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *xml = NULL;
    gbs_model *uai = NULL;
    double w_xml[24];
    double w_uai[24];
    if (gbs_model_read(data_path("network.xml"), NULL, &xml, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_int_equal(gbs_model_read(data_path("network.uai"), NULL, &uai, &err), GBS_OK);
    assert_int_equal(enumerate(xml, w_xml, 24), 24);
    assert_int_equal(enumerate(uai, w_uai, 24), 24);
    for (int i = 0; i < 24; i++) {
        expect_near(w_xml[i], w_uai[i]);
    }
    assert_int_equal(gbs_model_is_directed(xml), 1);
    assert_string_equal(gbs_model_variable_name(xml, 1), "rain-2");
    assert_string_equal(gbs_model_variable_name(xml, 2), "wet grass");
    assert_string_equal(gbs_model_state_label(xml, 1, 2), ">=12");
    assert_string_equal(gbs_model_state_label(xml, 2, 1), "<5");
    gbs_model_free(xml);
    gbs_model_free(uai);
}

/* The child runs fastest. In a BIF "table" it runs slowest. */
static void layouts(void **state)
{
    (void)state;
    gbs_model *bif =
        read_model("a.bif",
                   "variable a { type discrete [ 2 ] { no, yes }; }"
                   "variable b { type discrete [ 3 ] { lo, mid, hi }; }"
                   "probability ( a ) { table 0.9, 0.1; }"
                   "probability ( b | a ) { (no) 0.7, 0.2, 0.1; (yes) 0.1, 0.3, 0.6; }",
                   NULL);
    static const char *const same[] = {
        HEAD A B PA PB("<GIVEN>a</GIVEN><TABLE>.7 .2 .1 .1 .3 .6</TABLE>") TAIL,
        "\xef\xbb\xbf<?xml version='1.0'?>\r\n<!DOCTYPE BIF>\r\n"
        "<BIF VERSION = '0.3'\r\n xmlns=\"http://x/y\" >\r\n<NETWORK>\r\n<PROPERTY>a &amp; b"
        "</PROPERTY>\r\n" A B PA PB(
            "<TABLE>\r\n<!-- one -->0.7<!-- 9 -->0.2 0.1 <?pi 8?> 1e-1 +0.3 0.6</TABLE><GIVEN>\r\n "
            "a</GIVEN>") TAIL "\r\n<!-- end -->\r\n",
        "<!-- first --><?p?><!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!--]>--> <?x ]>?> ] "
        ">" HEAD A B PA PB("<PROPERTY>x</PROPERTY ><GIVEN>&#97;</GIVEN><TABLE>.7 .2 .1 .1 .3 .6"
                           "</TABLE>") TAIL,
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        gbs_model *m = read_model(i == 0   ? "b.bifxml"
                                  : i == 1 ? "b.xml"
                                           : "b.xmlbif",
                                  same[i], NULL);
        assert_string_equal(gbs_model_digest(m), gbs_model_digest(bif));
        gbs_model_free(m);
    }
    gbs_model_free(bif);
}

/* Names are decoded, and written back. */
static void names(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *back = NULL;
    gbs_model *m = read_model(
        "a.xml",
        "<BIF><NETWORK><VARIABLE><NAME>\n  \xc3\xa9t\xc3\xa9 &#x1F327;&quot;&apos; </NAME>"
        "<OUTCOME>&lt;&amp;&gt;</OUTCOME><OUTCOME><![CDATA[ a&b ]]></OUTCOME>"
        "<OUTCOME>&#32;x&#160;y&#32;</OUTCOME><OUTCOME>a &amp;amp; b</OUTCOME></VARIABLE>"
        "<DEFINITION><FOR>\xc3\xa9t\xc3\xa9 \xf0\x9f\x8c\xa7\"'</FOR><TABLE>0.1 0.2 0.3 0.4"
        "</TABLE></DEFINITION></NETWORK></BIF>",
        NULL);
    static const char *const labels[] = {"<&>", " a&b ", " x\u00a0y ", "a &amp; b"};
    assert_int_equal(gbs_model_write(m, scratch_path("n.xml"), NULL, &err), GBS_OK);
    if (gbs_model_read(scratch_path("n.xml"), NULL, &back, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    for (int i = 0; i < 2; i++) {
        const gbs_model *one = i == 0 ? m : back;
        assert_string_equal(gbs_model_variable_name(one, 0),
                            "\xc3\xa9t\xc3\xa9 \xf0\x9f\x8c\xa7\"'");
        for (uint32_t a = 0; a < 4; a++) {
            assert_string_equal(gbs_model_state_label(one, 0, a), labels[a]);
        }
    }
    gbs_model_free(m);
    gbs_model_free(back);
}

static void refused_markup(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"", "a.xml:1:1: found the end of the file, expected well-formed XML (no element found)"},
        {"hello", "a.xml:1:1: found 'hello', expected well-formed XML"},
        {"<BIF", "a.xml:1:1: found '<BIF', expected well-formed XML (unclosed token)"},
        {"<BIF>", "a.xml:1:6: found the end of the file, expected well-formed XML"},
        {"<BIF/>", "a.xml:1:1: found no variable"},
        {"<bif>", "a.xml:1:1: found '<bif>', expected <BIF>"},
        {"<1>", "a.xml:1:2: found '1>', expected well-formed XML"},
        {"<BIF VERSION=0.3>", "a.xml:1:14: found '0.3>', expected well-formed XML"},
        {"<BIF VERSION=\"<\">", "a.xml:1:15: found '<\">', expected well-formed XML"},
        {"<BIF VERSION='1' VERSION='1'>", "a.xml:1:18: found 'VERSION='1'>', expected well-form"},
        {"<BIF VERSION=\"0.4\">", "a.xml:1:1: found version '0.4' of XMLBIF, expected 0.3"},
        {"\n <!-- open", "a.xml:2:2: found '<!--', expected well-formed XML (unclosed token)"},
        {"<!DOCTYPE BIF", "a.xml:1:14: found the end of the file, expected well-formed XML"},
        {"<!DOCTYPE BIF [ x", "a.xml:1:17: found 'x', expected well-formed XML"},
        {"<!DOCTYPE BIF []><!DOCTYPE BIF []>" HEAD, "a.xml:1:18: found '<!DOCTYPE', expected well"},
        {HEAD TAIL, "a.xml:1:1: found no variable"},
        {HEAD A PA, "a.xml:4:1: found the end of the file, expected well-formed XML"},
        {HEAD A PA "</BIF>",
         "a.xml:4:1: found '</BIF>', expected well-formed XML (mismatched tag)"},
        {HEAD A PA TAIL "<BIF>", "a.xml:4:17: found '<BIF>', expected well-formed XML"},
        {HEAD A PA TAIL "x", "a.xml:4:17: found 'x', expected well-formed XML"},
        {HEAD A PA "</NETWORK><NETWORK>", "a.xml:4:11: found '<NETWORK>', expected </BIF>"},
        {HEAD "x", "a.xml:2:1: found 'x', expected a tag"},
        {HEAD "<OUTCOME/>",
         "a.xml:2:1: found '<OUTCOME/>', expected <NAME>, <PROPERTY>, <VARIABLE>, <DEFINITION> or "
         "</NETWORK>"},
        {HEAD "<VARIABLE><NAME>a</NAME><COST/>",
         "a.xml:2:25: found '<COST/>', expected <OUTCOME>, <PROPERTY>, <OBSERVED>, <OBS> or "
         "</VARIABLE>"},
        {HEAD A "<DEFINITION><FOR>a</FOR><NOISY/>", "found '<NOISY/>', expected <GIVEN>, <TABLE>"},
        {HEAD "<NAME>a</OTHER>", "a.xml:2:8: found '</OTHER>', expected well-formed XML"},
        {HEAD "<NAME>a<B/></NAME>", "a.xml:2:8: found '<B/>', expected </NAME>"},
        {HEAD "<NAME>\x01</NAME>", "a.xml:2:7: found '\\x01', expected well-formed XML"},
    };
    refuse_all("a.xml", cases, sizeof cases / sizeof cases[0], NULL);
    refuse_model("a.xml", "<?xml version='1.0' encoding='KOI8-R'?><BIF>\u00e9", NULL,
                 GBS_ERR_UNSUPPORTED,
                 "a.xml:1:1: found the encoding 'KOI8-R', expected UTF-8, US-ASCII, ISO-8859-1 or");
    gbs_model_free(
        read_model("a.xml", "<?xml version='1.0' encoding='KOI8-R'?>" HEAD A PA TAIL, NULL));
    refuse_model("a.xml", HEAD "<DECISION>", NULL, GBS_ERR_UNSUPPORTED, "other nodes are not");
}

/* Tests elements that other programs put around variables and tables, and observations that they
 * keep. */
static void odd_elements(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *warning;
    } cases[] = {
        {HEAD "<LAYOUT><VARIABLE/>x</LAYOUT>" A "<NOTE/>" PA TAIL,
         "skipped 2 elements that XMLBIF lacks, the first '<LAYOUT>'"},
        {HEAD "<VARIABLE><NAME>a</NAME><OBSERVED>1</OBSERVED><OUTCOME>no</OUTCOME>"
              "<OUTCOME>yes</OUTCOME></VARIABLE>" PA TAIL,
         "holds 1 observation ('a' = 'yes')"},
        {HEAD "<VARIABLE><NAME>a</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>"
              "<OBS> yes </OBS></VARIABLE>" PA TAIL,
         "('a' = 'yes')"},
        {HEAD "<VARIABLE><NAME>a</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME>"
              "<OBS>no</OBS><OBSERVED>yes</OBSERVED></VARIABLE>" PA TAIL,
         "holds 2 observations ('a' = 'no', ...)"},
        {"\n\n<?xml version=\"1.0\"?>\n" HEAD A PA TAIL, "blanks stand before '<?xml'"},
        {HEAD "<VARIABLE><NAME>a</NAME><OUTCOME>n\xe9</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>" PA
             TAIL,
         "1 byte is no UTF-8"},
        {"<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n" HEAD
         "<VARIABLE><NAME>a</NAME><OUTCOME>\xc3\xa9</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>" PA
             TAIL,
         NULL},
        {HEAD "<VARIABLE><NAME>a</NAME><OUTCOME>n</OUTCOME><OUTCOME>y</OUTCOME><OBS>-1</OBS>"
              "<OBSERVED/></VARIABLE>" PA TAIL,
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        warnings warned = {0};
        const gbs_read_options options = {.warn = take_warning, .context = &warned};
        gbs_model *m = read_model("a.xml", cases[i].text, &options);
        assert_int_equal(warned.n, cases[i].warning != NULL);
        if (cases[i].warning != NULL && strstr(warned.last, cases[i].warning) == NULL) {
            fail_msg("%s", warned.last);
        }
        assert_int_equal(gbs_model_n_variables(m), 1);
        gbs_model_free(m);
    }
}

#define NAMED(text) HEAD "<VARIABLE><NAME>" text "</NAME><OUTCOME>x</OUTCOME></VARIABLE>" TAIL

/* Nothing is ever expanded or fetched from another file. */
static void refused_references(void **state)
{
    (void)state;
    static const char *const bad[] = {
        NAMED("&e;"),      NAMED("&"),
        NAMED("&;"),       NAMED("&lt"),
        NAMED("&LT;"),     NAMED("&#;"),
        NAMED("&#x;"),     NAMED("&#0;"),
        NAMED("&#31;"),    NAMED("&#xD800;"),
        NAMED("&#xFFFE;"), NAMED("&#1114112;"),
        NAMED("&#12a;"),   NAMED("&#99999999999999999999;"),
    };
    static const refusal types[] = {
        {"<!DOCTYPE BIF [<!ENTITY a \"b\">]>" NAMED("&a;"), "that declares an entity"},
        {"<!DOCTYPE BIF [\n<!ENTITY e SYSTEM \"/etc/passwd\">]>" NAMED("x&e;"), "a.xml:2:"},
        {"<!DOCTYPE BIF [<!ENTITY % p \"b\">]>" NAMED("x"), "that declares an entity"},
        {"<!DOCTYPE BIF [ %p; ]>" NAMED("x&e;"),
         "that uses an entity or another file, expected one without"},
        {"<?xml version='1.0' standalone='yes'?><!DOCTYPE BIF [ %p; ]>" NAMED("x&e;"), "undefined"},
        {"<!DOCTYPE BIF SYSTEM \"a.dtd\">" NAMED("x"), "uses an entity or another file"},
        {"<?xml version='1.0' standalone='yes'?><!DOCTYPE BIF PUBLIC 'a' 'b'>" NAMED("x"),
         "that uses an entity or another file"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        refuse_model("a.xml", bad[i], NULL, GBS_ERR_FORMAT, "expected well-formed XML");
        refuse_model("a.xml", bad[i], NULL, GBS_ERR_FORMAT, "a.xml:2:");
    }
    refuse_all("a.xml", types, sizeof types / sizeof types[0], NULL);
    refuse_model("a.xml", HEAD A "<DEFINITION><FOR>a</FOR><TABLE>&#49; 0</TABLE></DEFINITION>" TAIL,
                 NULL, GBS_ERR_FORMAT, "found '&#49;', expected a probability");
    char many[8192] = "<!DOCTYPE BIF [";
    for (int i = 0; i < 65; i++) {
        size_t n = strlen(many);
        (void)snprintf(many + n, sizeof many - n, "<!ATTLIST BIF a%d CDATA 'x'>", i);
    }
    refuse_model("a.xml", many, NULL, GBS_ERR_FORMAT, "that declares more than 64 attributes");
}

static void refused_networks(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {HEAD "<VARIABLE/>" TAIL, "a.xml:2:1: found the end of a VARIABLE without a NAME"},
        {HEAD "<VARIABLE></VARIABLE>" TAIL,
         "a.xml:2:11: found the end of a VARIABLE without a NAME"},
        {HEAD "<VARIABLE><NAME>a</NAME></VARIABLE>" TAIL,
         "a.xml:2:25: found the end of a VARIABLE without an OUTCOME"},
        {HEAD "<VARIABLE><OUTCOME>a</OUTCOME></VARIABLE>" TAIL,
         "found '<OUTCOME>', expected <NAME>"},
        {HEAD "<VARIABLE><NAME>a</NAME><NAME>b</NAME>",
         "found '<NAME>', expected <OUTCOME>, <PROPERTY>, <OBSERVED>, <OBS> or </VARIABLE>"},
        {HEAD "<VARIABLE><NAME> </NAME>", "found an empty <NAME>, expected a name"},
        {HEAD "<VARIABLE><NAME/>", "found an empty <NAME>"},
        {HEAD "<VARIABLE TYPE=\"chance\">",
         "a.xml:2:1: found a variable of type 'chance', expected nature"},
        {HEAD "<VARIABLE><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>&#120;</OUTCOME>",
         "a.xml:2:54: found state 'x' twice, expected it once"},
        {HEAD A A PA TAIL, "a.xml:3:17: found variable 'a' twice, expected it once"},
        {HEAD A TAIL, "a.xml:2:17: found variable 'a' without a DEFINITION, expected one"},
        {HEAD A PA PA TAIL, "found a second DEFINITION of 'a', expected one"},
        {HEAD A "<DEFINITION/>" TAIL, "a.xml:3:1: found the end of a DEFINITION without FOR"},
        {HEAD A "<DEFINITION></DEFINITION>" TAIL, "DEFINITION without FOR"},
        {HEAD A "<DEFINITION><FOR>a</FOR></DEFINITION>" TAIL, "DEFINITION without TABLE"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE/></DEFINITION>" TAIL,
         "a.xml:3:25: found the end of the TABLE of 'a' after 0 probabilities, expected 2"},
        {HEAD A "<DEFINITION><FOR>a</FOR><FOR>a</FOR></DEFINITION>" TAIL,
         "found '<FOR>', expected <GIVEN>, <TABLE>, <PROPERTY> or </DEFINITION>"},
        {HEAD A "<DEFINITION><OUTCOME>", "found '<OUTCOME>', expected <FOR>, <GIVEN>"},
        {HEAD A "<DEFINITION><FOR>c</FOR><TABLE>1</TABLE></DEFINITION>" TAIL,
         "a.xml:3:18: found 'c', expected a variable that the file declares"},
        {HEAD A "<DEFINITION><FOR>a</FOR><GIVEN>a</GIVEN><TABLE>1</TABLE></DEFINITION>" TAIL,
         "found 'a' twice in one block"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE>1</TABLE></DEFINITION>" TAIL,
         "a.xml:3:33: found the end of the TABLE of 'a' after 1 probability, expected 2"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE>1 0 0</TABLE></DEFINITION>" TAIL,
         "found '0' after all 2 probabilities of a TABLE"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE>1 -1</TABLE></DEFINITION>" TAIL, "found '-1'"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE>1 nan</TABLE></DEFINITION>" TAIL,
         "found NA beside"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE>0 0</TABLE></DEFINITION>" TAIL, "all zero"},
        {HEAD A "<DEFINITION><FOR>a</FOR><TABLE>1 0</TABLE><TABLE>1 0</TABLE></DEFINITION>" TAIL,
         "found '<TABLE>', expected <GIVEN>, <PROPERTY> or </DEFINITION>"},
        {HEAD A B
         "<DEFINITION><FOR>a</FOR><GIVEN>b</GIVEN><TABLE>1 0 1 0 1 0</TABLE></DEFINITION>" PB(
             "<GIVEN>a</GIVEN><TABLE>1 0 0 1 0 0</TABLE>") TAIL,
         "directed cycle"},
    };
    refuse_all("a.xml", cases, sizeof cases / sizeof cases[0], NULL);
    refuse_model("a.xml", HEAD "<VARIABLE TYPE=\"decision\">", NULL, GBS_ERR_UNSUPPORTED,
                 "a.xml:2:1: found a variable of type 'decision', expected nature: decisions and");
    refuse_model("a.xml", HEAD "<VARIABLE TYPE=\"utility\">", NULL, GBS_ERR_UNSUPPORTED, "utility");
    warnings warned = {0};
    gbs_read_options options = {.lenient = 1, .warn = take_warning, .context = &warned};
    gbs_model_free(read_model("a.xml", "<BIF VERSION=\"0.5\"><NETWORK>" A PA TAIL, &options));
    assert_int_equal(warned.n, 1);
}

static void written_text(void **state)
{
    (void)state;
    char text[1024];
    gbs_error err = {0};
    warnings warned = {0};
    gbs_write_options options = {.warn = take_warning, .context = &warned};
    const char *path = scratch_path("w.xml");
    gbs_model *m = read_model("a.uai", "BAYES 2 1 2 2 1 0 2 0 1 1 1 2 0.25 0.75", NULL);
    assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
    (void)read_file(path, text, sizeof text);
    assert_string_equal(
        text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<BIF VERSION=\"0.3\">\n<NETWORK>\n"
              "<NAME>unknown</NAME>\n"
              "<VARIABLE TYPE=\"nature\">\n\t<NAME>x0</NAME>\n\t<OUTCOME>0</OUTCOME>\n</VARIABLE>\n"
              "<VARIABLE TYPE=\"nature\">\n\t<NAME>x1</NAME>\n\t<OUTCOME>0</OUTCOME>\n"
              "\t<OUTCOME>1</OUTCOME>\n</VARIABLE>\n"
              "<DEFINITION>\n\t<FOR>x0</FOR>\n\t<TABLE>\n\t\t1\n\t</TABLE>\n</DEFINITION>\n"
              "<DEFINITION>\n\t<FOR>x1</FOR>\n\t<GIVEN>x0</GIVEN>\n\t<TABLE>\n\t\t0.25 0.75\n"
              "\t</TABLE>\n</DEFINITION>\n</NETWORK>\n</BIF>\n");
    gbs_model_free(m);
    assert_int_equal(gbs_model_read(data_path("network.xml"), NULL, &m, &err), GBS_OK);
    gbs_model *back = NULL;
    assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_OK);
    assert_int_equal(gbs_model_read(path, NULL, &back, &err), GBS_OK);
    assert_string_equal(gbs_model_digest(back), gbs_model_digest(m));
    assert_string_equal(gbs_model_state_label(back, 2, 1), "<5");
    assert_int_equal(warned.n, 0);
    gbs_model_free(m);
    gbs_model_free(back);
    m = read_model("a.uai", "MARKOV 1 2 0", NULL);
    assert_int_equal(gbs_model_write(m, path, &options, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "the model is not directed"));
    gbs_model_free(m);
}

/* A build without expat can write XMLBIF, but cannot read it. */
static void refused_by_name(void **state)
{
    (void)state;
    refuse_model(
        "a.xml", HEAD A PA TAIL, NULL, GBS_ERR_UNSUPPORTED,
        "a.xml: XMLBIF and XDSL files cannot be read: gibbsite was built without expat; convert");
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    static const struct CMUnitTest without_expat[] = {cmocka_unit_test(refused_by_name)};
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_uai),
        cmocka_unit_test(layouts),
        cmocka_unit_test(names),
        cmocka_unit_test(odd_elements),
        cmocka_unit_test(refused_markup),
        cmocka_unit_test(refused_references),
        cmocka_unit_test(refused_networks),
        cmocka_unit_test(written_text),
    };
    return can_read("a.xml") ? cmocka_run_group_tests(tests, NULL, end)
                             : cmocka_run_group_tests(without_expat, NULL, end);
}
