// Errors that passes could make: programs that were not read from a text.
#include "hostir/text/verify/verifier.h"

#include "tests/unit/text/corpus.h"

namespace hostir::text {
namespace {

Program relu_program() {
  auto program = parse_program(R"(fusion @f(%a: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %b = relu %a
  %y = exp %b
  return %y
})");
  return program ? std::move(*program) : Program{};
}

std::vector<std::string> ids(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> out;
  for (const Diagnostic& d : diagnostics) out.push_back(d.id);
  return out;
}

TEST(Verifier, AcceptsWhatItHasVerified) {
  for (const CorpusText& text : texts_under("tests")) {
    SourceManager sources;
    ParsedFile parsed = parse(sources, sources.add(text.name, text.text));
    if (!parsed.ok()) continue;
    for (Program& part : parsed.file.parts) {
      const Program before = part;
      EXPECT_TRUE(verify(part).empty()) << text.name;
      EXPECT_EQ(part, before) << text.name;
    }
  }
}

TEST(Verifier, UseBeforeDefinition) {
  Program program = relu_program();
  auto& body = program.functions[0].region(program.functions[0].body).instructions;
  std::swap(body[0], body[1]);
  EXPECT_EQ(ids(verify(program)), std::vector<std::string>{"value_c2"});
}

TEST(Verifier, NameTwice) {
  Program program = relu_program();
  program.functions[0].values[2].name = "b";
  const auto found = ids(verify(program));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front(), "value_c1");
}

TEST(Verifier, SymbolTwice) {
  Program program = relu_program();
  program.add_function(program.functions[0]);
  EXPECT_EQ(ids(verify(program)), std::vector<std::string>{"symbol_c1"});
}

TEST(Verifier, AttributeOfAnotherType) {
  Program program = relu_program();
  program.functions[0].instructions[0].kind = OpKind::gelu;
  program.functions[0].instructions[0].attributes.set("approximate", Attribute(int64_t{3}));
  EXPECT_EQ(ids(verify(program)), std::vector<std::string>{"op_c4"});
}

}  // namespace
}  // namespace hostir::text
