#include "hostir/cli/verbs/run_files.h"

#include <fmt/core.h>

#include "hostir/api/open/program_options.h"
#include "hostir/io/complex_parts.h"
#include "hostir/io/files.h"
#include "hostir/io/generate.h"
#include "hostir/io/npy.h"
#include "hostir/io/tensor_file.h"
#include "hostir/ir/fits.h"
#include "hostir/ir/inline_value.h"
#include "hostir/support/lists.h"
#include "interp/session/checks/compare.h"

namespace hostir::cli {

namespace {

struct OutputPlace {
  size_t index = 0;
  bool is_pair = false;  // the real part of a complex output
};

Expected<OutputPlace> output_place(const interp::Prepared& prepared, const std::string& name,
                                   const std::vector<size_t>& pairs) {
  const auto& results = prepared.code->functions.front()->results;
  std::string names;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string known = results[i].name.empty() ? fmt::format("{}", i) : results[i].name;
    if (results[i].name == name) return OutputPlace{i, false};
    if (contains(pairs, i) && known == name + "_re") return OutputPlace{i, true};
    names += (names.empty() ? "" : ", ") + known;
  }
  if (const auto position = api::position_of(name)) {
    const size_t place = io::place_of_module(*position, pairs);
    if (place < results.size()) return OutputPlace{place, contains(pairs, place)};
  }
  return fail(ErrorKind::kUsage, "usage",
              fmt::format("the program has no output \"{}\"; it has {}", name,
                          names.empty() ? "none" : names));
}

}  // namespace

Expected<OutputFiles> OutputFiles::parse(const std::vector<std::string>& texts,
                                         const interp::Prepared& prepared,
                                         const std::vector<size_t>& complex_results) {
  OutputFiles out;
  for (const std::string& text : texts) {
    File file;
    if (text.starts_with('@')) {
      file.path = text.substr(1);
    } else {
      HOSTIR_ASSIGN_OR_RETURN(const auto binding, api::split_binding(text, "--output"));
      HOSTIR_ASSIGN_OR_RETURN(const OutputPlace place,
                              output_place(prepared, binding.first, complex_results));
      file.output = place.index;
      file.is_pair = place.is_pair;
      file.path = binding.second.starts_with('@') ? binding.second.substr(1) : binding.second;
    }
    if (file.path.empty())
      return fail(ErrorKind::kUsage, "usage", "--output names no file: \"" + text + "\"");
    HOSTIR_TRY(io::check_writable(file.path));
    out.files_.push_back(std::move(file));
  }
  return out;
}

Expected<void> OutputFiles::write(const interp::RunResult& result) const {
  for (const File& file : files_) {
    if (file.output) {
      const interp::NamedOutput& o = result.outputs[*file.output];
      if (!file.is_pair) {
        HOSTIR_TRY(io::write_tensor_file(file.path, o.name, o.global));
        continue;
      }
      const Tensor both = io::joined_parts(o.global, result.outputs[*file.output + 1].global);
      const std::string name = o.name.substr(0, o.name.size() - 3);  // without _re
      HOSTIR_TRY(io::holds_named_tensors(file.path)
                     ? io::write_tensor_file(file.path, name, both)
                     : io::write_file(file.path, io::format_complex_npy(both)));
      continue;
    }
    io::NamedTensors all;
    for (const interp::NamedOutput& o : result.outputs) all.emplace_back(o.name, o.global);
    HOSTIR_TRY(io::write_named_tensors(file.path, all));
  }
  return {};
}

Expected<ExpectedOutputs> ExpectedOutputs::parse(const std::vector<std::string>& texts,
                                                 const interp::Prepared& prepared,
                                                 const std::vector<size_t>& complex_results) {
  ExpectedOutputs out;
  const auto add = [&](const std::string& name, Item item) -> Expected<void> {
    HOSTIR_ASSIGN_OR_RETURN(const OutputPlace place, output_place(prepared, name, complex_results));
    item.output = place.index;
    if (!place.is_pair) {
      out.items_.push_back(std::move(item));
      return {};
    }
    Item im = item;
    im.output = place.index + 1;
    if (item.value) {
      HOSTIR_ASSIGN_OR_RETURN(io::ComplexParts parts, io::complex_parts(*item.value, name));
      item.value = std::move(parts.re);
      im.value = std::move(parts.im);
    }
    out.items_.push_back(std::move(item));
    out.items_.push_back(std::move(im));
    return {};
  };
  for (const std::string& text : texts) {
    if (text.starts_with('@') && io::holds_named_tensors(text)) {
      HOSTIR_ASSIGN_OR_RETURN(io::NamedTensors members, io::read_named_tensors(text.substr(1)));
      for (auto& [name, tensor] : members) {
        Item item;
        item.spec.kind = ValueSpec::Kind::kFile;
        item.value = std::move(tensor);
        HOSTIR_TRY(add(name, std::move(item)));
      }
      continue;
    }
    HOSTIR_ASSIGN_OR_RETURN(const auto binding, api::split_binding(text, "--expect"));
    Item item;
    HOSTIR_ASSIGN_OR_RETURN(item.spec, api::parse_bound_value(binding, "--expect"));
    if (item.spec.kind == ValueSpec::Kind::kInline || item.spec.kind == ValueSpec::Kind::kFile) {
      HOSTIR_ASSIGN_OR_RETURN(item.value, io::materialise(item.spec, "", nullptr, nullptr));
    }
    HOSTIR_TRY(add(binding.first, std::move(item)));
  }
  return out;
}

std::optional<std::vector<int64_t>> ExpectedOutputs::shape(const std::vector<std::string>& texts,
                                                           size_t index) {
  for (const std::string& text : texts) {
    if (!text.starts_with(std::to_string(index) + "=")) continue;
    const auto binding = api::split_binding(text, "--expect");
    if (!binding) return std::nullopt;
    const auto spec = api::parse_bound_value(*binding, "--expect");
    if (!spec || (spec->kind != ValueSpec::Kind::kInline && spec->kind != ValueSpec::Kind::kFile))
      return std::nullopt;
    const auto value = io::materialise(*spec, "", nullptr, nullptr);
    if (!value) return std::nullopt;
    return std::vector<int64_t>(value->extents.begin(), value->extents.end());
  }
  return std::nullopt;
}

Expected<bool> ExpectedOutputs::check(Terminal& terminal, const interp::RunResult& result,
                                      const Tolerance& tolerance, Report report) const {
  bool good = true;
  for (const Item& item : items_) {
    const interp::NamedOutput& output = result.outputs[item.output];
    const Tensor& actual = output.global;
    std::optional<Tensor> expected = item.value;
    if (!expected) {
      HOSTIR_ASSIGN_OR_RETURN(expected,
                              io::materialise(item.spec, "", &actual.dtype, &actual.extents));
    }
    const bool is_file = item.spec.kind == ValueSpec::Kind::kFile;
    const auto widths = is_file ? interp::IntegerWidths::kAny : interp::IntegerWidths::kSame;
    if (is_file && holds_bits_of(expected->dtype, actual.dtype)) expected->dtype = actual.dtype;
    std::string wrong;
    if (expected->extents != actual.extents) {
      wrong = fmt::format("it is {}, but the expected value is {}",
                          format_shape_text(actual.dtype, actual.extents),
                          format_shape_text(expected->dtype, expected->extents));
    } else {
      wrong = interp::dtype_conflict(actual.dtype, expected->dtype, widths);
    }
    if (wrong.empty()) {
      const auto difference = interp::compare(actual, *expected, tolerance);
      if (difference) wrong = interp::describe(*difference, actual);
    }
    if (!wrong.empty()) {
      good = false;
      terminal.print(
          terminal.styled(fmt::format("%{}: {}\n", output.name, wrong), Terminal::Style::kBad));
    } else if (report == Report::kAll) {
      terminal.print(terminal.styled(fmt::format("%{}: as expected ({})\n", output.name,
                                                 interp::describe(tolerance, actual.dtype)),
                                     Terminal::Style::kGood));
    }
  }
  return good;
}

}  // namespace hostir::cli
