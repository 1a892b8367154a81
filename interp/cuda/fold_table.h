// Maps a reduction and a dtype to the types of fold_element.h: one list for host and device.
#pragma once

#include "hostir/ir/dtype.h"
#include "interp/cuda/fold_element.h"

namespace hostir::cuda {

/// Calls `f.template run<Element, Combine>()`.
template <class F>
void with_fold_types(Reduction reduction, DType dtype, F& f) {
  const auto numbers = [&](auto element) {
    using Element = decltype(element);
    switch (reduction) {
      case Reduction::kSum:
        return f.template run<Element, CombineSum>();
      case Reduction::kAvg:
        return f.template run<Element, CombineAverage>();
      case Reduction::kProd:
        return f.template run<Element, CombineProduct>();
      case Reduction::kMin:
        return f.template run<Element, CombineLeast>();
      case Reduction::kMax:
        return f.template run<Element, CombineGreatest>();
    }
  };
  switch (dtype) {
    case DType::kF64:
      return numbers(ElementF64{});
    case DType::kF32:
      return numbers(ElementF32{});
    case DType::kBF16:
      return numbers(ElementBF16{});
    case DType::kF16:
      return numbers(ElementF16{});
    case DType::kF8E4M3:
      return numbers(ElementF8E4M3{});
    case DType::kF8E5M2:
      return numbers(ElementF8E5M2{});
    case DType::kI64:
      return numbers(ElementInteger<int64_t>{});
    case DType::kI32:
      return numbers(ElementInteger<int32_t>{});
    case DType::kI16:
      return numbers(ElementInteger<int16_t>{});
    case DType::kI8:
      return numbers(ElementInteger<int8_t>{});
    case DType::kU64:
      return numbers(ElementInteger<uint64_t>{});
    case DType::kU32:
      return numbers(ElementInteger<uint32_t>{});
    case DType::kU16:
      return numbers(ElementInteger<uint16_t>{});
    case DType::kU8:
      return numbers(ElementInteger<uint8_t>{});
    case DType::kI1: {  // sum, avg and max are "or", prod and min are "and"
      const bool all = reduction == Reduction::kProd || reduction == Reduction::kMin;
      if (all) return f.template run<ElementTruth, CombineLeast>();
      return f.template run<ElementTruth, CombineGreatest>();
    }
  }
}

}  // namespace hostir::cuda
