#include "traces/import/formats/names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <utility>

namespace hostir::traces::import {

namespace {

/// Lower case without underscores, so that `_all_gather_base` and `allgather_base` are equal.
std::string squeezed(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

using NamedOp = std::pair<std::string_view, OpKind>;
constexpr std::array kOps = std::to_array<NamedOp>({
    {"allreduce", OpKind::all_reduce},
    {"allreducecoalesced", OpKind::all_reduce},
    {"allreducebarrier", OpKind::all_reduce},
    {"allreducesparse", OpKind::all_reduce},
    {"barrier", OpKind::all_reduce},
    {"allgather", OpKind::all_gather},
    {"allgatherbase", OpKind::all_gather},
    {"allgatherv", OpKind::all_gather},
    {"allgathersingle", OpKind::all_gather},
    {"allgathercoalesced", OpKind::all_gather},
    {"allgatherintotensor", OpKind::all_gather},
    {"allgatherintotensorcoalesced", OpKind::all_gather},
    {"reducescatter", OpKind::reduce_scatter},
    {"reducescatterbase", OpKind::reduce_scatter},
    {"reducescatterv", OpKind::reduce_scatter},
    {"reducescattersingle", OpKind::reduce_scatter},
    {"reducescattercoalesced", OpKind::reduce_scatter},
    {"reducescattertensor", OpKind::reduce_scatter},
    {"reducescattertensorcoalesced", OpKind::reduce_scatter},
    {"alltoall", OpKind::all_to_all},
    {"alltoallbase", OpKind::all_to_all},
    {"alltoallv", OpKind::all_to_all},
    {"alltoallsingle", OpKind::all_to_all},
    {"alltoallvsingle", OpKind::all_to_all},
    {"broadcast", OpKind::broadcast},
    {"broadcastoop", OpKind::broadcast},
    {"reduce", OpKind::reduce},
    {"reduceoop", OpKind::reduce},
    {"gather", OpKind::gather},
    {"gathersingle", OpKind::gather},
    {"scatter", OpKind::scatter},
    {"send", OpKind::send},
    {"recv", OpKind::recv},
});

using NamedDType = std::pair<std::string_view, DType>;
constexpr std::array kDTypes = std::to_array<NamedDType>({
    {"float", DType::kF32},
    {"float32", DType::kF32},
    {"ncclfloat32", DType::kF32},
    {"ncclfloat", DType::kF32},
    {"double", DType::kF64},
    {"float64", DType::kF64},
    {"ncclfloat64", DType::kF64},
    {"nccldouble", DType::kF64},
    {"half", DType::kF16},
    {"float16", DType::kF16},
    {"ncclfloat16", DType::kF16},
    {"ncclhalf", DType::kF16},
    {"bfloat16", DType::kBF16},
    {"ncclbfloat16", DType::kBF16},
    {"long", DType::kI64},
    {"ncclint64", DType::kI64},
    {"int", DType::kI32},
    {"ncclint32", DType::kI32},
    {"ncclint", DType::kI32},
    {"char", DType::kI8},
    {"ncclint8", DType::kI8},
    {"ncclchar", DType::kI8},
    {"byte", DType::kU8},
    {"nccluint8", DType::kU8},
    {"bool", DType::kI1},
    {"short", DType::kI16},
    {"int16", DType::kI16},
    {"uint16", DType::kU16},
    {"uint32", DType::kU32},
    {"nccluint32", DType::kU32},
    {"uint64", DType::kU64},
    {"nccluint64", DType::kU64},
    {"float8e4m3fn", DType::kF8E4M3},
    {"float8e5m2", DType::kF8E5M2},
    {"ncclfloat8e4m3", DType::kF8E4M3},
    {"ncclfloat8e5m2", DType::kF8E5M2},
});

}  // namespace

std::optional<OpKind> op_of(std::string_view name) {
  const std::string wanted = squeezed(name);
  const auto at =
      std::find_if(kOps.begin(), kOps.end(), [&](const NamedOp& op) { return op.first == wanted; });
  return at == kOps.end() ? std::nullopt : std::optional(at->second);
}

std::optional<DType> dtype_of(std::string_view name) {
  const std::string wanted = squeezed(name);
  if (const auto ours = parse_dtype(wanted)) return ours;
  const auto at = std::find_if(kDTypes.begin(), kDTypes.end(),
                               [&](const NamedDType& dtype) { return dtype.first == wanted; });
  return at == kDTypes.end() ? std::nullopt : std::optional(at->second);
}

std::string_view scalar_type_name(int64_t code) {
  constexpr std::array<std::string_view, 30> kNames = {"Byte",
                                                       "Char",
                                                       "Short",
                                                       "Int",
                                                       "Long",
                                                       "Half",
                                                       "Float",
                                                       "Double",
                                                       "ComplexHalf",
                                                       "ComplexFloat",
                                                       "ComplexDouble",
                                                       "Bool",
                                                       "QInt8",
                                                       "QUInt8",
                                                       "QInt32",
                                                       "BFloat16",
                                                       "QUInt4x2",
                                                       "QUInt2x4",
                                                       "Bits1x8",
                                                       "Bits2x4",
                                                       "Bits4x2",
                                                       "Bits8",
                                                       "Bits16",
                                                       "Float8_e5m2",
                                                       "Float8_e4m3fn",
                                                       "Float8_e5m2fnuz",
                                                       "Float8_e4m3fnuz",
                                                       "UInt16",
                                                       "UInt32",
                                                       "UInt64"};
  return code >= 0 && static_cast<size_t>(code) < kNames.size() ? kNames[static_cast<size_t>(code)]
                                                                : std::string_view("unknown");
}

std::optional<DType> nccl_dtype(int64_t code) {
  constexpr std::array<DType, 12> kCodes = {
      DType::kI8,  DType::kU8,  DType::kI32, DType::kU32,  DType::kI64,    DType::kU64,
      DType::kF16, DType::kF32, DType::kF64, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2};
  return code >= 0 && static_cast<size_t>(code) < kCodes.size()
             ? std::optional(kCodes[static_cast<size_t>(code)])
             : std::nullopt;
}

std::optional<Reduction> nccl_reduction(int64_t code) {
  constexpr std::array<Reduction, 5> kCodes = {Reduction::kSum, Reduction::kProd, Reduction::kMax,
                                               Reduction::kMin, Reduction::kAvg};
  return code >= 0 && static_cast<size_t>(code) < kCodes.size()
             ? std::optional(kCodes[static_cast<size_t>(code)])
             : std::nullopt;
}

}  // namespace hostir::traces::import
