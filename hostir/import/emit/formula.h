// Formulas of several operations, for handlers.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "hostir/import/emit/handlers.h"

namespace hostir::importer {

/// The same bits as another element type of the same size.
Expected<Known> same_bits(Emitter& e, const Known& x, const std::string& element);

/// The bits of an integer of 2 or 4 bits; 0 for other element types.
int64_t narrow_bits(const std::string& element);
/// A value of such a type after an operation on the 8 bits that hold it: wrapped to its own bits.
Expected<Known> narrowed(Emitter& e, const Known& x, const std::string& element);

/// Arithmetic on values, so that formulas read as such. Numbers have the type of the operation's
/// first operand. Keeps the first error.
class Formula {
 public:
  explicit Formula(const OpSite& s) : e_(s.emitter), type_(s.in(0).type) {}
  Formula(Emitter& e, ModuleType type) : e_(e), type_(std::move(type)) {}

  Known number(double value) { return e_.number(value, type_); }
  Known integer(int64_t value) { return e_.integer(value, type_); }
  Known integer(uint64_t value) { return e_.integer(static_cast<int64_t>(value), type_); }
  Known op(OpKind kind, const Known& a) { return failed_ ? a : kept(e_.apply(kind, {a})); }
  Known op(OpKind kind, const Known& a, const Known& b) {
    return failed_ ? a : kept(e_.apply(kind, {a, b}));
  }
  Known add(const Known& a, const Known& b) { return op(OpKind::add, a, b); }
  Known sub(const Known& a, const Known& b) { return op(OpKind::sub, a, b); }
  Known mul(const Known& a, const Known& b) { return op(OpKind::mul, a, b); }
  Known div(const Known& a, const Known& b) { return op(OpKind::div, a, b); }
  Known abs(const Known& a) { return op(OpKind::abs, a); }
  Known sqrt(const Known& a) { return op(OpKind::sqrt, a); }
  Known compare(const Known& a, const Known& b, const char* direction) {
    return failed_ ? a : kept(e_.compared(a, b, direction));
  }
  Known select(const Known& pred, const Known& a, const Known& b) {
    return failed_ ? a : kept(e_.apply(OpKind::select, {pred, a, b}));
  }
  Known cast(const Known& a, const std::string& element) {
    return failed_ ? a : kept(e_.cast(a, element));
  }
  Known bits(const Known& a, const std::string& element) {
    return failed_ ? a : kept(same_bits(e_, a, element));
  }
  Known bit_and(const Known& a, const Known& b) { return op(OpKind::bit_and, a, b); }
  Known bit_or(const Known& a, const Known& b) { return op(OpKind::bit_or, a, b); }
  Known bit_xor(const Known& a, const Known& b) { return op(OpKind::bit_xor, a, b); }
  Known shifted_right(const Known& a, int64_t by) {
    return op(OpKind::shift_right, a, e_.integer(by, a.type));
  }
  Known broadcast(const Known& a, const std::vector<int64_t>& dims, std::vector<int64_t> to) {
    return failed_ ? a : kept(e_.broadcast(a, dims, std::move(to)));
  }
  /// Another operation of the module with the same type.
  Known call(const OpSite& s, std::string_view name, const Known& a) {
    if (failed_) return a;
    Frame frame = {a, std::nullopt};
    ModuleFunction function;
    function.values.resize(2);
    function.values[0].type = a.type;
    function.values[1].type = a.type;
    ModuleOp op;
    op.name = name;
    op.span = s.op.span;
    op.operands = {0};
    op.results = {1};
    auto done = find_handler(name)->handler(OpSite{e_, function, op, frame});
    if (!done) {
      failed_ = std::move(done.error());
      return a;
    }
    return *frame[1];
  }
  /// c[0] + c[1] x + c[2] x^2 + ..
  Known polynomial(const Known& x, std::initializer_list<double> c) {
    Known y = number(*(c.end() - 1));
    for (size_t i = c.size() - 1; i-- > 0;) y = add(mul(y, x), number(*(c.begin() + i)));
    return y;
  }
  Expected<Known> result(Known y) {
    if (failed_) return tl::unexpected(std::move(*failed_));
    return y;
  }
  Expected<void> give(const OpSite& s, Known y, size_t result = 0) {
    if (failed_) return tl::unexpected(std::move(*failed_));
    return s.set(std::move(y), result);
  }

 private:
  Known kept(Expected<Known> y) {
    if (y) return std::move(*y);
    if (!failed_) failed_ = std::move(y.error());
    return number(0);
  }

  Emitter& e_;
  ModuleType type_;
  std::optional<Error> failed_;
};

}  // namespace hostir::importer
