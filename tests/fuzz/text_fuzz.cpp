// libFuzzer entry: parses any bytes; what is accepted prints to a fixpoint.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hostir/text/expected_diagnostics.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"
#include "large_mesh.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir;
  if (fuzz::may_have_large_mesh(data, size)) return 0;
  SourceManager sources;
  const uint32_t file = sources.add("input", std::string(data, data + size));
  const text::ParsedFile parsed = text::parse(sources, file);
  render(parsed.diagnostics, sources);
  text::check_expected_diagnostics(sources, file, parsed.diagnostics);
  if (!parsed.ok()) return 0;
  const text::PrintOptions options{text::DerivedComments::kAll};
  const std::string printed = text::print(parsed.file, options);
  const text::ParsedFile again = text::parse(sources, sources.add("printed", printed));
  if (!again.ok() || text::print(again.file, options) != printed) std::abort();
  return 0;
}
