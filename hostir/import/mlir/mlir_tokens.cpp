
#include "hostir/import/mlir/mlir_reader.h"
#include "hostir/support/number_from.h"

namespace hostir::importer {

MlirReader::MlirReader(uint32_t file, std::string_view text, std::vector<Diagnostic>& diagnostics)
    : file_(file), lexer_(text), diagnostics_(diagnostics) {
  token_ = lexer_.at(0);
}

MlirReader::Nesting::Nesting(MlirReader& reader) : reader_(reader), ok_(true) {
  if (++reader_.depth_ > kMaxNesting) {
    reader_.too_deep_ = true;
    ok_ = reader_.error("nested deeper than " + std::to_string(kMaxNesting) + " levels",
                        reader_.span_of(reader_.peek()));
  }
}

MlirToken MlirReader::next() {
  MlirToken taken = token_;
  last_end_ = taken.end;
  token_ = lexer_.at(taken.end);
  return taken;
}

void MlirReader::move_to(uint32_t position) {
  last_end_ = position;
  token_ = lexer_.at(position);
}

bool MlirReader::accept(std::string_view text) {
  if (!at(text)) return false;
  next();
  return true;
}

bool MlirReader::expect(std::string_view text) {
  return accept(text) || unexpected("\"" + std::string(text) + "\"");
}

bool MlirReader::error(std::string message, SourceSpan span) {
  diagnostics_.push_back({Severity::kError, "mlir_syntax", std::move(message), span, {}});
  return false;
}

bool MlirReader::unexpected(std::string_view wanted) {
  static constexpr size_t kShown = 40;
  std::string found = at(MlirTokenKind::kEnd)
                          ? "the end of the text"
                          : "\"" + std::string(token_.text.substr(0, kShown)) + "\"";
  return error("unexpected " + found + ", expected " + std::string(wanted), span_of(token_));
}

std::optional<int64_t> MlirReader::read_integer() {
  if (at(MlirTokenKind::kNumber)) {
    if (const auto value = number_from<int64_t>(token_.text)) {
      next();
      return value;
    }
  }
  unexpected("a 64-bit integer");
  return std::nullopt;
}

bool MlirReader::skip_balanced() {
  const MlirToken open = peek();
  int depth = 0;
  do {
    if (at(MlirTokenKind::kEnd)) return error("this bracket is not closed", span_of(open));
    if (at("(") || at("[") || at("{") || at("<")) ++depth;
    if (at(")") || at("]") || at("}") || at(">")) --depth;
    next();
  } while (depth > 0);
  return true;
}

bool MlirReader::skip_location() {
  if (!at("loc")) return true;
  next();
  return at("(") ? skip_balanced() : unexpected("\"(\"");
}

}  // namespace hostir::importer
