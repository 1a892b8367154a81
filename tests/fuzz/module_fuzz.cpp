// Feeds any bytes to the importers: nothing aborts, and what is imported prints and reparses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "hostir/import/import.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hostir::SourceManager sources;
  const uint32_t file = sources.add("fuzz", std::string(data, data + size));
  const auto imported = hostir::importer::import_text(sources, file);
  if (!imported) {
    static_cast<void>(hostir::render(imported.error().diagnostics, sources));
    return 0;
  }
  const std::string text = hostir::text::print(imported->program);
  const auto again = hostir::text::parse_program(text);
  if (again && hostir::text::print(*again) != text) std::abort();
  return 0;
}
