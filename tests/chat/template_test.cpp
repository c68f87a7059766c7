#include "heed/chat/template.h"

#include <gtest/gtest.h>

#include <chrono>

#include "heed/chat/limits.h"
#include "support/error_of.h"

namespace heed::chat {
namespace {

std::string rendered(const std::string& source, const OrderedJson& variables = OrderedJson::object()) {
  return ChatTemplate(source, "t").render(variables).text;
}

std::string refusal(const std::string& source, const OrderedJson& variables = OrderedJson::object()) {
  return test::error_of(ErrorKind::invalid_argument, [&] { rendered(source, variables); });
}

std::string syntax_error(const std::string& source) {
  return test::error_of(ErrorKind::bad_format, [&] { ChatTemplate(source, "t"); });
}

// What can be said without jinja2 at hand; tests/chat/jinja_test.cpp asks it about far more.
TEST(ChatTemplate, WritesWhatPythonWrites) {
  EXPECT_EQ(rendered("{{ 7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1e16 }} {{ 0.1 + 0.2 }}"),
            "3 2 3.5 1024 1e+16 0.30000000000000004");
  EXPECT_EQ(rendered("{{ [1, 'it\\'s', none, true, (1,), {'a': 1.0}] }}"),
            "[1, \"it's\", None, True, (1,), {'a': 1.0}]");
  EXPECT_EQ(rendered("{{ 'hällo'[1:3] }}{{ 'abc'[::-1] }}{{ 'straße'.upper() }}{{ 'a,b'.split(',') }}"),
            "älcbaSTRASSE['a', 'b']");
  EXPECT_EQ(rendered("{{ {'b': [1, none], 'a': 'é\\n'} | tojson }}"), R"({"b": [1, null], "a": "é\n"})");
  EXPECT_EQ(rendered("{{ [1, {}] | tojson(indent=2) }}"), "[\n  1,\n  {}\n]");
  EXPECT_EQ(rendered("{{ missing }}|{{ missing is defined }}|{{ missing.x | default('d') if false }}|"), "|False||");
  EXPECT_EQ(rendered("a\r\nb\rc\n"), "a\nb\nc");
}

TEST(ChatTemplate, KeepsTheOrderOfKeys) {
  const OrderedJson tools = parse_ordered_json(R"({"tool": {"type": 1, "name": 2, "a": 3}})", "tools");
  EXPECT_EQ(rendered("{{ tool | tojson }}", tools), R"({"type": 1, "name": 2, "a": 3})");
}

TEST(ChatTemplate, TrimsAsHuggingFaceDoes) {
  EXPECT_EQ(rendered("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(rendered("a {%- if true -%} b {%- endif +%}\nc"), "ab\nc");
  EXPECT_EQ(rendered("{% for i in [1, 2] %}\n{{ i }}\n{% endfor %}"), "1\n2\n");
}

TEST(ChatTemplate, ScopesAndLoops) {
  EXPECT_EQ(rendered("{% set n = 1 %}{% for i in [1, 2] %}{% set n = n + i %}{% endfor %}{{ n }}"), "1");
  EXPECT_EQ(rendered("{% set s = namespace(n=1) %}{% for i in [1, 2] %}{% set s.n = s.n + i %}{% endfor %}{{ s.n }}"),
            "4");
  EXPECT_EQ(rendered("{% for i in range(9) if i is odd %}{% if i > 5 %}{% break %}{% endif %}{{ loop.index }}{{ i "
                     "}};{% endfor %}"),
            "11;23;35;");
  EXPECT_EQ(rendered("{% macro m(a, b=2) %}[{{ a }}{{ b }}{{ caller() }}]{% endmacro %}{% call m(1) %}c{% endcall %}"),
            "[12c]");
}

TEST(ChatTemplate, NotesWhatTheModelSays) {
  const RenderedChat chat =
      ChatTemplate("é{% generation %}ab{% endgeneration %}c{% generation %}ü{% endgeneration %}", "t")
          .render(OrderedJson::object());
  EXPECT_EQ(chat.text, "éabcü");
  const std::vector<std::pair<std::size_t, std::size_t>> expected = {{2, 4}, {5, 7}};
  EXPECT_EQ(chat.generated, expected);
}

TEST(ChatTemplate, ErrorsSayWhere) {
  EXPECT_EQ(syntax_error("a\n{{ 1 + }}"), "t:2: expected an expression, found the end of the tag");
  EXPECT_EQ(syntax_error("{% if x %}\n\n"), "t:2: Unexpected end of template, expected endif");
  EXPECT_EQ(refusal("\n\n{{ message.role.x.y }}", {{"message", OrderedJson::object()}}),
            "t:3: 'dict object' has no attribute 'role'");
  EXPECT_EQ(refusal("{{ raise_exception('Roles must alternate') }}"), "t:1: Roles must alternate");
  EXPECT_EQ(refusal("{{ [1].append(2) }}"), "t:1: access to attribute 'append' of 'list' object is unsafe.");
  EXPECT_EQ(refusal("{{ 'a'.encode() }}"), "t:1: the method encode of texts is not supported");
}

TEST(ChatTemplate, IntegersHave64Bits) {
  EXPECT_EQ(syntax_error("{{ 9223372036854775808 }}"), "t:1: the number 9223372036854775808 does not fit in 64 bits");
  for (const char* source : {"{{ 9223372036854775807 + 1 }}", "{{ -9223372036854775807 - 2 }}", "{{ 2 ** 63 }}",
                             "{{ (-9223372036854775807 - 1) // -1 }}", "{{ -(-9223372036854775807 - 1) }}",
                             "{{ '9223372036854775808' | int }}", "{{ 1e19 | int }}", "{{ 4611686018427387904 * 2 }}",
                             "{{ (-9223372036854775807 - 1) | abs }}"}) {
    EXPECT_NE(refusal(source).find("fit"), std::string::npos) << source;
  }
  EXPECT_EQ(refusal("", {{"x", 9223372036854775808U}}), "x: 9223372036854775808 does not fit in 64 bits");
}

// Whatever a template tries, it ends soon, with an error that says why.
TEST(ChatTemplate, HostileTemplatesEnd) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string many = "{% for i in range(100000) %}", end = "{% endfor %}";
  const std::string doubled = "{% set n = namespace(l=(1,)) %}{% for i in range(60) %}{% set n.l = (n.l, n.l) %}" + end;
  const auto growing = [&](const std::string& first, const std::string& next) {
    return "{% set n = namespace(l=" + first + ") %}" + many + "{% set n.l = " + next + " %}" + end;
  };
  const std::vector<std::string> sources = {
      many + many + many + end + end + end,
      many + many + "x" + end + end,
      growing("'ab'", "n.l ~ n.l"),
      growing("[1]", "n.l + n.l"),
      growing("[]", "[n.l]"),
      growing("[]", "[n.l].index"),
      growing("[1]", "{'a': n.l}.items() | list"),
      growing("[1]", "cycler(n.l).next"),
      doubled + "{{ n.l }}",
      doubled + "{% set k = n.l %}" + doubled + "{{ k == n.l }}",
      doubled + "{{ {n.l: 1} }}",
      doubled + "{{ n.l | tojson }}",
      "{{ 'x' * 9223372036854775807 }}",
      "{{ [1] * 9223372036854775807 }}",
      "{{ 'x'.center(9223372036854775807) }}",
      "{{ '%999999999999d' % 1 }}",
      "{{ '{:999999999}'.format(1) }}",
      "{{ [1] | tojson(indent=9999999999) }}",
      "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
      "{{ 'a\\nb' | indent(9999999999) }}",
      "{{ ('a' * 100000) | list | join('b' * 100000) }}",
      "{{ [1] | batch(9999999999, 1) | list }}",
      "{{ [1] | slice(9999999999) | list }}",
      "{{ range(9223372036854775807) }}",
      "{{ ('a' * 1000000).rfind('b' ~ 'a' * 500000) }}",
      "{{ ('a' * 1000000).rsplit('b' ~ 'a' * 500000) }}",
      "{{ '{0}' * 100000 }}" + many + "{{ ('{0}' * 1000).format('a' * 1000) }}" + end,
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f(g) %}{{ g(g) }}{% endmacro %}{{ f(f) }}",
      "{% for i in [[1]] recursive %}{{ loop([i]) }}{% endfor %}",
      "{% set n = namespace() %}{% set n.n = n %}{{ n }}",
  };
  for (const std::string& source : sources) EXPECT_FALSE(refusal(source).empty()) << source;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(seconds.count(), 120);  // under sanitizers on a busy machine; a few seconds elsewhere
}

TEST(ChatTemplate, HostileNestingIsRefused) {
  constexpr int kMany = 100'000;
  for (const char* open : {"(", "[", "{1: ", "-", "not ", "a if b else ", "x[", "f(", "1 + ", "a | b(", "a is b("}) {
    std::string source = "{{ ";
    for (int i = 0; i < kMany; ++i) source += open;
    EXPECT_FALSE(syntax_error(source + "1 }}").empty()) << open;
  }
  for (const char* open : {"{% if true %}", "{% for i in x %}", "{% macro m() %}", "{% set x %}", "{% filter e %}"}) {
    std::string source;
    for (int i = 0; i < kMany; ++i) source += open;
    EXPECT_FALSE(syntax_error(source).empty()) << open;
  }
  std::string chain = "{{ x", targets = "{% for ";
  for (int i = 0; i < kMany; ++i) (chain += ".y"), (targets += "(");
  EXPECT_FALSE(syntax_error(chain + " }}").empty());
  EXPECT_FALSE(syntax_error(targets).empty());
  EXPECT_FALSE(syntax_error(std::string(kMostTemplateBytes + 1, 'x')).empty());
}

TEST(ChatTemplate, RefusesWhatIsNotUtf8) {
  EXPECT_EQ(syntax_error("\xFF"), "t: the template is not UTF-8");
  EXPECT_EQ(refusal("", {{"a", {"\xFF"}}}), "a: text that is not UTF-8");
}

}  // namespace
}  // namespace heed::chat
