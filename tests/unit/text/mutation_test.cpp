// Slightly wrong texts: for any mutation of the corpus, the parser returns, and whatever it accepts
// prints to a fixpoint. A small deterministic version of tests/fuzz/text_fuzz.cpp.
#include "hostir/support/philox.h"
#include "tests/unit/text/corpus.h"

namespace hostir::text {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  size_t below(size_t n) { return n == 0 ? 0 : random_word(seed_, index_++) % n; }

 private:
  uint64_t seed_;
  uint64_t index_ = 0;
};

void check(const std::string& text) {
  SourceManager sources;
  const ParsedFile parsed = parse(sources, sources.add("mutated", text));
  render(parsed.diagnostics, sources);
  if (!parsed.ok()) return;
  const std::string printed = print(parsed.file, {DerivedComments::kAll});
  const ParsedFile again = parse(sources, sources.add("printed", printed));
  ASSERT_TRUE(again.ok()) << render(again.diagnostics, sources) << "\nfrom:\n" << text;
  EXPECT_EQ(print(again.file, {DerivedComments::kAll}), printed) << "\nfrom:\n" << text;
}

// One mutation: change a byte, delete a piece, duplicate a piece, or insert a piece of another
// text.
std::string mutate(std::string text, const std::string& other, Random& random) {
  const size_t at = random.below(text.size() + 1);
  const size_t length = 1 + random.below(12);
  switch (random.below(5)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(random.below(256));
      break;
    case 1:
      text.erase(at, length);
      break;
    case 2:
      text.insert(at, text.substr(at, length));
      break;
    case 3: {
      const size_t from = random.below(other.size() + 1);
      text.insert(at, other.substr(from, length));
      break;
    }
    default: {
      const std::string marks = "(){}[]<>,:=%@?\"#.-+0\n";
      text.insert(at, 1, marks[random.below(marks.size())]);
    }
  }
  return text;
}

TEST(Mutation, NeverAbortsAndStaysAFixpoint) {
  std::vector<CorpusText> texts = op_examples();
  for (CorpusText& text : texts_under("tests/programs")) texts.push_back(std::move(text));
  for (CorpusText& text : texts_under("tests/scripts/negative")) texts.push_back(std::move(text));
  Random random(7);
  for (int round = 0; round < 10000; ++round) {
    std::string text = texts[random.below(texts.size())].text;
    const std::string& other = texts[random.below(texts.size())].text;
    if (text.size() > 4000) text.resize(4000);
    const size_t changes = 1 + random.below(3);
    for (size_t i = 0; i < changes; ++i) text = mutate(std::move(text), other, random);
    check(text);
  }
}

TEST(Mutation, HostileTexts) {
  check(std::string(100, '\0'));
  check("\xff\xfe\x80 fusion @\xc3");
  check(std::string(100000, '('));
  check(std::string(100000, '{'));
  check("mesh @m = <x=" + std::string(1000, '9') + ">");
  check("fusion @f(%a: tensor<9223372036854775807x9223372036854775807xf32>) { return %a }");
  check(
      "fusion @f() -> (tensor<4xf32>) { %a = constant {data = \"99999999999xf32=0\"} return %a }");
  check("test \"t\" { run @f(full(1e999)) }");
  std::string nested = "mesh @m = <x=2>\nhost @f on @m () {\n";
  for (int i = 0; i < 5000; ++i) nested += "where rank == 0 {\n";
  check(nested);
  std::string repeats = "test \"t\" {\n";
  for (int i = 0; i < 5000; ++i) repeats += "repeat 2 {\n";
  check(repeats);
  std::string sum = "mesh @m = <x=2>\nhost @f on @m () {\n assert 1";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  check(sum + "\n return }");
  std::string errors = "fusion @f() {\n";
  for (int i = 0; i < 5000; ++i) errors += "  bogus\n";
  check(errors + "}");
}

}  // namespace
}  // namespace hostir::text
