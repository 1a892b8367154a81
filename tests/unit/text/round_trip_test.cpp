// print(parse(print(p))) == print(p), and the reparsed program equals the printed one.
#include <algorithm>

#include "hostir/text/assembly.h"
#include "hostir/text/expected_diagnostics.h"
#include "tests/unit/text/corpus.h"

namespace hostir::text {
namespace {

void expect_fixpoint(const CorpusText& text, const PrintOptions& options) {
  SourceManager sources;
  const ParsedFile parsed = parse(sources, sources.add(text.name, text.text));
  ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics, sources);
  const std::string printed = print(parsed.file, options);
  const ParsedFile again = parse(sources, sources.add(text.name + " printed", printed));
  ASSERT_TRUE(again.ok()) << render(again.diagnostics, sources) << printed;
  EXPECT_EQ(print(again.file, options), printed) << text.name;
  EXPECT_EQ(print(again.file), print(parsed.file)) << text.name;
}

void expect_span(const SourceSpan& located, const SourceSpan& parsed, const std::string& where) {
  EXPECT_EQ(located.begin, parsed.begin) << where;
  EXPECT_EQ(located.end, parsed.end) << where;
}

// The printer's places are those that the parser finds in the text, and ids stay.
void expect_places(const Program& program, const std::string& name) {
  Program located = program;
  SourceManager sources;
  const uint32_t file = sources.add(name, print_and_locate(located, 0));
  EXPECT_EQ(sources.text(file), print(program));
  const ParsedFile parsed = parse(sources, file);
  ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics, sources);
  const std::vector<Function>& again = parsed.file.parts.front().functions;
  ASSERT_EQ(located.functions.size(), again.size()) << name;
  for (size_t f = 0; f < again.size(); ++f) {
    const Function& a = located.functions[f];
    const Function& b = again[f];
    expect_span(a.span, b.span, name + " @" + a.name);
    expect_span(a.name_span, b.name_span, name + " @" + a.name);
    for (size_t p = 0; p < b.params.size(); ++p)
      expect_span(a.value(a.params[p].value).span, b.value(b.params[p].value).span,
                  name + " @" + a.name + " parameter");
    const std::vector<InstrId> order = a.preorder();
    ASSERT_EQ(order.size(), b.preorder().size()) << name << a.name;
    for (size_t i = 0; i < order.size(); ++i) {
      const Instruction& x = a.instr(order[i]);
      const Instruction& y = b.instr(b.preorder()[i]);
      const std::string where = name + " @" + a.name + "#" + std::to_string(i + 1);
      expect_span(x.span, y.span, where);
      expect_span(x.name_span, y.name_span, where + " mnemonic");
      for (size_t o = 0; o < y.operands.size(); ++o)
        expect_span(x.operands[o].span, y.operands[o].span, where + " operand");
    }
  }
}

TEST(RoundTrip, PrintedPlacesAreThoseOfTheParser) {
  for (const CorpusText& text : texts_under("tests")) {
    SourceManager sources;
    const ParsedFile parsed = parse(sources, sources.add(text.name, text.text));
    if (!parsed.ok()) continue;
    for (const Program& part : parsed.file.parts) {
      if (std::ranges::none_of(part.functions, [&](const Function& f) { return !f.body.valid(); }))
        expect_places(part, text.name);
    }
  }
}

TEST(RoundTrip, EveryScriptThatParses) {
  for (const CorpusText& text : texts_under("tests")) {
    SourceManager sources;
    if (!parse(sources, sources.add(text.name, text.text)).ok()) continue;
    expect_fixpoint(text, {});
    expect_fixpoint(text, {DerivedComments::kAll});
  }
}

TEST(RoundTrip, EveryOpExample) {
  for (const CorpusText& text : op_examples()) {
    expect_fixpoint(text, {});
    expect_fixpoint(text, {DerivedComments::kAll});
  }
}

// Scripts that expect no diagnostics must produce none.
TEST(RoundTrip, EveryScriptWithoutExpectationsIsValid) {
  for (const CorpusText& text : texts_under("tests")) {
    SourceManager sources;
    const uint32_t file = sources.add(text.name, text.text);
    if (!read_expectations(sources, file).empty()) continue;
    const ParsedFile parsed = parse(sources, file);
    EXPECT_TRUE(parsed.ok()) << render(parsed.diagnostics, sources);
  }
}

// The examples in the README, fenced as ```hir.
TEST(RoundTrip, ReadmeExamples) {
  const std::string readme = read_text("hostir/text/README.md");
  const std::string fence = "```hir\n";
  size_t found = 0;
  for (size_t at = 0; (at = readme.find(fence, at)) != std::string::npos;) {
    at += fence.size();
    const size_t end = readme.find("```", at);
    ASSERT_NE(end, std::string::npos);
    expect_fixpoint({"README.md", readme.substr(at, end - at)}, {DerivedComments::kAll});
    ++found;
  }
  EXPECT_GE(found, 1u);
}

// Slots and attributes named in an assembly string must exist.
TEST(Assembly, NamesWhatTheRecordHas) {
  const auto check = [](const auto& self, const OpRecord& op,
                        const std::vector<Element>& elements) -> void {
    for (const Element& e : elements) {
      self(self, op, e.children);
      const bool slot =
          e.kind == Element::Kind::kOperands || e.kind == Element::Kind::kRegionBinding;
      if (slot) {
        EXPECT_LT(e.slot, op.operands.size()) << op.mnemonic << ": " << op.assembly;
      }
      const bool attribute =
          e.kind == Element::Kind::kAttribute || e.kind == Element::Kind::kRanges;
      if (attribute) {
        EXPECT_TRUE(find_attribute_spec(op, e.text)) << op.mnemonic << ": " << e.text;
      }
      if (e.kind == Element::Kind::kRanges) {
        EXPECT_TRUE(find_attribute_spec(op, e.second)) << op.mnemonic << ": " << e.second;
      }
    }
  };
  for (size_t i = 0; i < kOpCount; ++i) {
    check(check, record(static_cast<OpKind>(i)), assembly(static_cast<OpKind>(i)));
  }
}

TEST(Print, LinesAndAddresses) {
  const auto program = parse_program(R"(mesh @m = <tp=2>
host @f on @m (inout %a: shard<4xf32, @m, [{}], unreduced={tp}>) {
  %c = comm over {tp}
  %n = stream "comm"
  for %i in 0..3 {
    all_reduce sum %c rw(%a -> [{}]) on %n
  }
  return
})");
  ASSERT_TRUE(program) << program.error().message();
  const Function& f = program->functions[0];
  const auto order = f.preorder();
  ASSERT_EQ(order.size(), 5u);
  EXPECT_EQ(print_line(f, order[2]), "for %i in 0..3 { ... }");
  EXPECT_EQ(print_line(f, order[3]), "all_reduce sum %c rw(%a -> [{}]) on %n");
}

TEST(Print, DerivedComments) {
  const auto program = parse_program(R"(mesh @m = <dp=2, tp=3>
host @f on @m (inout %a: shard<4xf32, @m, [{}], unreduced={tp}>) {
  %c = comm over {tp}
  %s = stream "compute"
  %b = alloc on %s : shard<32x10xf32, @m, [{tp}, {}]>
  %own = subview %b[:, 0:4]
  all_reduce sum %c rw(%a -> [{}]) on %s
  all_reduce sum %c rw(%a -> [{}]) on %s
  return
})");
  ASSERT_TRUE(program) << program.error().message();
  const std::string text = print(*program, {DerivedComments::kAll});
  EXPECT_NE(text.find("//= groups [[0,1,2],[3,4,5]]"), std::string::npos) << text;
  EXPECT_NE(text.find("//= local 11|11|10 x 10"), std::string::npos) << text;
  EXPECT_NE(text.find("//= local 11|11|10|11|11|10 x 4"), std::string::npos) << text;
  EXPECT_NE(text.find("//= seq 1, 16 bytes per rank"), std::string::npos) << text;
}

TEST(Print, KeepsCommentsWhereTheyStand) {
  const std::string text = R"(// of the file

// of the mesh
mesh @m = <x=2>  // beside it

//! documentation
fusion @f(%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  // before

  %b = relu %a : tensor<4xf32>  // beside
  return %b
  // at the end
}  // behind

// last
)";
  SourceManager sources;
  const ParsedFile parsed = parse(sources, sources.add("comments", text));
  ASSERT_TRUE(parsed.ok()) << render(parsed.diagnostics, sources);
  EXPECT_EQ(print(parsed.file), text);
}

}  // namespace
}  // namespace hostir::text
