// The built-in machines.
//
// H200: 4.8 TB/s HBM3e (specified). MLPs of H=8192 and 16384 run at 690 TFLOP/s dense bf16 and f16
// once they reach the power limit, within some 50 ms; shorter runs reach 780. The ramp is from
// `hostir machines calibrate`. The collective tables are least-absolute-error fits to NCCL 2.28 on
// 2 and 8 GPUs with NVLS off (tests/unit/sim/nccl_2_8_gpus.csv). The 4-GPU measurements only
// validate the fit; the test next to the data states the errors.
#include "hostir/ir/machine.h"

namespace hostir {

namespace {

constexpr double kGB = 1e9;

double& flops_of(Machine& m, DType dtype) { return m.flops_per_s[static_cast<size_t>(dtype)]; }

CollectiveModel& model_of(Machine& m, OpKind kind) {
  size_t index = 0;
  while (index + 1 < kCommunicationOps.size() && kCommunicationOps[index] != kind) ++index;
  return m.collectives[index];
}

void set_h200_collectives(Machine& m) {
  const CollectiveModel all_reduce{5612, 815, 22406, 0, 4.897e6, 373.9 * kGB, 906 * kGB, 0};
  const CollectiveModel all_gather{8502, 593, 21138, 0, 3.915e6, 367.5 * kGB, 1059 * kGB, 0};
  const CollectiveModel reduce_scatter{5666, 889, 18987, 0, 3.722e6, 374.2 * kGB, 770 * kGB, 0};
  const CollectiveModel all_to_all{6696, 1081, 20930, 0, 4.647e6, 341.7 * kGB, 2862 * kGB, 0};
  const CollectiveModel broadcast{7143, 124, 13154, 2342, 8.803e6, 368.1 * kGB, 0, 0};
  const CollectiveModel send{8332, 0, 26506, 0, 6.446e6, 364.3 * kGB, 0, 20 * kGB};
  // The sweep does not measure the other collectives. They are assumed to pipeline along a ring,
  // like broadcast. Gather and scatter are the root's half of an all_to_all.
  m.collectives.fill(broadcast);
  model_of(m, OpKind::all_reduce) = all_reduce;
  model_of(m, OpKind::all_gather) = all_gather;
  model_of(m, OpKind::reduce_scatter) = reduce_scatter;
  for (const OpKind kind : {OpKind::all_to_all, OpKind::gather, OpKind::scatter}) {
    model_of(m, kind) = all_to_all;
  }
  for (const OpKind kind : {OpKind::permute, OpKind::send, OpKind::recv}) model_of(m, kind) = send;
}

Machine make_h200x8() {
  Machine m;
  m.name = "h200x8";
  m.documentation = {
      " Hosts of 8 H200 over NVLink, as many as the ranks need; 400 Gbit/s InfiniBand per GPU "
      "between them."};
  m.ranks_per_host = 8;
  m.memory_bytes = 141e9;
  m.memory_bandwidth_bytes_per_s = 4800 * kGB;
  m.launch_ns = 2500;
  m.issue_ns = 2000;
  flops_of(m, DType::kF64) = 60e12;
  flops_of(m, DType::kF32) = 52e12;
  flops_of(m, DType::kBF16) = 690e12;
  flops_of(m, DType::kF16) = 690e12;
  for (const DType d : {DType::kF8E4M3, DType::kF8E5M2, DType::kI8}) flops_of(m, d) = 1500e12;
  m.product_ramp_flops = 6e8;
  m.local_link = {450 * kGB, 700};
  m.network = {50 * kGB, 5000};
  set_h200_collectives(m);
  return m;
}

Machine make_cpu() {
  Machine m;
  m.name = "cpu";
  m.documentation = {" One host; each rank has a share of its cores and of its memory bandwidth."};
  m.ranks_per_host = 1024;
  m.memory_bytes = 4e9;
  m.memory_bandwidth_bytes_per_s = 10 * kGB;
  m.launch_ns = 500;
  m.issue_ns = 100;
  flops_of(m, DType::kF64) = 50e9;
  flops_of(m, DType::kF32) = 100e9;
  flops_of(m, DType::kBF16) = 800e9;
  m.local_link = {10 * kGB, 200};
  m.network = {1.2 * kGB, 20000};
  for (CollectiveModel& c : m.collectives) c = {500, 200, 0, 0, 0, 10 * kGB, 10 * kGB, 0};
  return m;
}

}  // namespace

std::span<const Machine> builtin_machines() {
  static const std::vector<Machine> machines = {make_h200x8(), make_cpu()};
  return machines;
}

}  // namespace hostir
