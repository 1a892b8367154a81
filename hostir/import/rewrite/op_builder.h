// Appends operations to a module that is being rewritten before conversion.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hostir/import/module.h"

namespace hostir::importer {

/// Each operation has one new result, called `name`. The function and the list of operations belong
/// to the caller and must outlive the builder.
class OpBuilder {
 public:
  OpBuilder(ModuleFunction& function, std::vector<ModuleOp>& out, SourceSpan span, std::string name)
      : f_(function), out_(out), span_(span), name_(std::move(name)) {}

  /// The type is that of the first operand unless given.
  ValueNumber op(std::string_view name, std::vector<ValueNumber> operands,
                 std::optional<ModuleType> type = std::nullopt,
                 std::vector<NamedAttr> attributes = {});
  ValueNumber add(ValueNumber a, ValueNumber b) { return op("stablehlo.add", {a, b}); }
  ValueNumber sub(ValueNumber a, ValueNumber b) { return op("stablehlo.subtract", {a, b}); }
  ValueNumber mul(ValueNumber a, ValueNumber b) { return op("stablehlo.multiply", {a, b}); }
  ValueNumber div(ValueNumber a, ValueNumber b) { return op("stablehlo.divide", {a, b}); }
  /// The value itself if it has this element type.
  ValueNumber convert(ValueNumber value, const std::string& element);
  ValueNumber constant(const Literal& literal);
  /// A constant with the same number in every element.
  ValueNumber all_equal(double number, const ModuleType& type);

  const ModuleType& type(ValueNumber value) const { return f_.type(value); }

 private:
  ModuleFunction& f_;
  std::vector<ModuleOp>& out_;
  SourceSpan span_;
  std::string name_;
};

}  // namespace hostir::importer
