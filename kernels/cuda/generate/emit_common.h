// Shared by the emitters.
#pragma once

#include <string>

#include "kernels/cuda/generate/group_text.h"

namespace hostir::cuda {

/// The body function of a step or of a part of one; takes its block's number. `A`: operands are
/// aligned to 16 bytes.
std::string body_function(const std::string& name, size_t arguments, const std::string& index,
                          int threads, const std::string& body);
/// Both entries of a step, `name` for aligned operands and `name`_u, each with its own body.
std::string entries(const std::string& name, size_t arguments, int threads,
                    const std::string& body_of_aligned, const std::string& body_of_unaligned);

/// Accesses of a group for `BufferUse`. `elementwise`: each thread reads an element before it
/// writes the same one.
std::vector<BufferUse> uses_of_group(const Group& group, bool elementwise);

std::string next_name(const Plan& plan);

/// One launch whose blocks hold whole rows.
void emit_rows(const Group& group, Plan& plan);
/// Folds through memory: partial results, then their reduction.
void emit_split(const Group& group, Plan& plan);

/// Rounded up.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace hostir::cuda
