// Collects the collectives and device numbers of a manual computation or HLO module while its local
// operations are emitted. The operations between two collectives then become one kernel.
#pragma once

#include <memory>

#include "hostir/import/device/local_program.h"
#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// A collective or device number, with its position among the instructions of the flat function.
struct DeviceOp {
  LocalStep step;       // without inputs and outputs
  size_t position = 0;  // number of instructions before it
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  size_t loop = 0;  // kLoop: its place among the loops
};

struct DeviceLoop;

/// The groups in `dense<[[0, 1], [2, 3]]>`, whose short rows are padded with -1; nullopt if the
/// attribute has another form.
std::optional<std::vector<std::vector<int64_t>>> dense_groups(const Attr& attr);

class DeviceOps {
 public:
  /// `world` is the mesh of all devices; device numbers are its ranks.
  DeviceOps(const Mesh& world, std::string name);
  ~DeviceOps();
  DeviceOps(const DeviceOps&) = delete;
  DeviceOps& operator=(const DeviceOps&) = delete;

  /// The emitter's device hook. Returns true if it handled the operation.
  Expected<bool> take(const OpSite& site);

  /// Cuts the flat function into kernels, added to `program`, and steps, added to `local`.
  /// `numbers` maps values of the function to local values; it must have the parameters.
  Expected<void> cut(Function& flat, const std::vector<ValueId>& returned, Program& program,
                     LocalProgram& local, std::vector<std::optional<LocalValue>>& numbers);

 private:
  std::vector<size_t> join_collectives(const Function& flat);
  Expected<bool> take_all_reduce(const OpSite& site);
  Expected<bool> take_all_gather(const OpSite& site);
  Expected<bool> take_reduce_scatter(const OpSite& site);
  Expected<bool> take_all_to_all(const OpSite& site);
  Expected<bool> take_exchange_of_operands(const OpSite& site,
                                           const std::vector<std::vector<int64_t>>& groups);
  Expected<bool> take_permute(const OpSite& site);
  Expected<bool> take_broadcast(const OpSite& site);
  /// The collective moves all operands as they are.
  Expected<bool> take_as_they_are(const OpSite& site, OpKind op, Attributes attributes,
                                  std::vector<std::vector<int64_t>> groups);
  Expected<bool> take_device_number(const OpSite& site);
  Expected<bool> take_while(const OpSite& site);
  Expected<void> fill_loop(const OpSite& site, const Known& goes_on, DeviceLoop& loop);
  Expected<void> cut_loop(const DeviceOp& op, Program& program, LocalProgram& local,
                          std::vector<std::optional<LocalValue>>& numbers, LocalStep& step);
  Expected<std::vector<Known>> collective(const OpSite& site, OpKind op, std::vector<Known> inputs,
                                          std::vector<ModuleType> types, Attributes attributes,
                                          std::vector<std::vector<int64_t>> groups);
  Expected<std::vector<std::vector<int64_t>>> groups_of(const OpSite& site) const;

  const Mesh& world_;
  std::string name_;
  std::vector<DeviceOp> ops_;
  std::optional<Known> device_number_;
  std::vector<std::unique_ptr<DeviceLoop>> loops_;
};

}  // namespace hostir::importer
