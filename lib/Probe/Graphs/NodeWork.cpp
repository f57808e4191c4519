#include "Probe/Graphs/NodeWork.h"

#include "Probe/Driver/KernelSignature.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

/// Returns the buffer that \p Extra names, as launches take it; nothing if it names none.
static std::optional<std::vector<char>> packedArguments(void **Extra) {
  const char *Buffer = nullptr;
  const size_t *Bytes = nullptr;
  for (; *Extra != CU_LAUNCH_PARAM_END; Extra += 2) {
    if (*Extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
      Buffer = static_cast<const char *>(Extra[1]);
    else if (*Extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
      Bytes = static_cast<const size_t *>(Extra[1]);
    else
      return std::nullopt;
  }
  if (!Buffer || !Bytes)
    return std::nullopt;
  return std::vector<char>(Buffer, Buffer + *Bytes);
}

/// Copies the values of all arguments. Returns false if their sizes are not known.
static bool copyArguments(const DriverApi &Driver, const CUDA_KERNEL_NODE_PARAMS &Params,
                          KernelWork &Kernel) {
  if (!Params.kernelParams && Params.extra) {
    Kernel.Packed = packedArguments(Params.extra);
    return Kernel.Packed.has_value();
  }
  auto Bytes = parameterBytesOfHandle(Driver, Kernel.Handle);
  if (!Bytes)
    return false;
  for (size_t I = 0; I < Bytes->size(); ++I) {
    const char *Value =
        Params.kernelParams ? static_cast<const char *>(Params.kernelParams[I]) : nullptr;
    if (!Value)
      return false;
    Kernel.Arguments.emplace_back(Value, Value + (*Bytes)[I]);
  }
  return true;
}

std::optional<KernelWork> carve::probe::copyKernel(const DriverApi &Driver,
                                                   const CUDA_KERNEL_NODE_PARAMS &Params) {
  KernelWork Kernel;
  Kernel.IsCUkernel = !Params.func;
  Kernel.Handle = Params.func ? Params.func : reinterpret_cast<CUfunction>(Params.kern);
  // The driver ignores the context of a CUfunction, which has that of its module
  // (ExecutableGraphs).
  Kernel.Context = Params.func ? nullptr : Params.ctx;
  const char *Name = Kernel.Handle ? kernelName(Driver, Kernel.Handle) : nullptr;
  if (!Name || !copyArguments(Driver, Params, Kernel))
    return std::nullopt;
  Kernel.Name = Name;
  Kernel.Config.gridDimX = Params.gridDimX;
  Kernel.Config.gridDimY = Params.gridDimY;
  Kernel.Config.gridDimZ = Params.gridDimZ;
  Kernel.Config.blockDimX = Params.blockDimX;
  Kernel.Config.blockDimY = Params.blockDimY;
  Kernel.Config.blockDimZ = Params.blockDimZ;
  Kernel.Config.sharedMemBytes = Params.sharedMemBytes;
  return Kernel;
}

/// Returns whether an attribute of a node was set. The driver also tells those that were not, with
/// values that mean nothing.
static bool isSet(CUlaunchAttributeID Id, const CUlaunchAttributeValue &Value) {
  switch (Id) {
  case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    return Value.accessPolicyWindow.num_bytes > 0;
  case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
    return Value.cooperative != 0;
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    return Value.clusterDim.x > 0;
  case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    return Value.clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    return Value.preferredClusterDim.x > 0;
  case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    return Value.priority != 0;
  case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    return Value.memSyncDomain != CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
  case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    // The default is -1. A driver that does not know the attribute of nodes leaves 0.
    return Value.sharedMemCarveout > 0;
  default:
    return false;
  }
}

std::optional<GraphStay> carve::probe::copyAttributes(const DriverApi &Driver, CUgraphNode Node,
                                                      KernelWork &Kernel) {
  auto Ask = [&](CUlaunchAttributeID Id) {
    CUlaunchAttribute Attribute{};
    Attribute.id = Id;
    // An older driver refuses an attribute that it does not know, and then no node has it.
    if (Driver.GraphKernelNodeGetAttribute(Node, Id, &Attribute.value) != CUDA_SUCCESS)
      Attribute.value = {};
    return Attribute;
  };
  if (Ask(CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
          .value.deviceUpdatableKernelNode.deviceUpdatable)
    return GraphStay::DeviceUpdate;
  static constexpr CUlaunchAttributeID Copied[] = {
      CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
      CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
      CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
      CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
      CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
      CU_LAUNCH_ATTRIBUTE_PRIORITY,
      CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
      CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
  };
  for (CUlaunchAttributeID Id : Copied)
    if (CUlaunchAttribute Attribute = Ask(Id); isSet(Id, Attribute.value))
      Kernel.Attributes.push_back(Attribute);
  return std::nullopt;
}

bool carve::probe::isPageable(const DriverApi &Driver, const CUDA_MEMCPY3D &Copy) {
  auto Unknown = [&](CUmemorytype Type, const void *Host, CUdeviceptr Device) {
    if (Type != CU_MEMORYTYPE_HOST && Type != CU_MEMORYTYPE_UNIFIED)
      return false;
    CUdeviceptr Address = Type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(Host) : Device;
    CUmemorytype Kind{};
    return Driver.PointerGetAttribute(&Kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, Address) !=
           CUDA_SUCCESS;
  };
  return Unknown(Copy.srcMemoryType, Copy.srcHost, Copy.srcDevice) ||
         Unknown(Copy.dstMemoryType, Copy.dstHost, Copy.dstDevice);
}

namespace {
/// Does each kind of work on a stream.
struct Doer {
  const DriverApi &Driver;
  CUstream Stream;

  CUresult operator()(std::monostate) const { return CUDA_SUCCESS; }
  CUresult operator()(const KernelWork &Kernel) const;
  CUresult operator()(CUDA_MEMCPY3D Copy) const;
  CUresult operator()(const CUDA_MEMSET_NODE_PARAMS &Fill) const;
  CUresult operator()(const CUDA_HOST_NODE_PARAMS &Host) const {
    return Driver.LaunchHostFunc(Stream, Host.fn, Host.userData);
  }
  CUresult operator()(const EventRecordWork &Record) const {
    return Driver.EventRecord(Record.Event, Stream);
  }
  CUresult operator()(const EventWaitWork &Wait) const {
    return Driver.StreamWaitEvent(Stream, Wait.Event, 0);
  }
};
} // namespace

CUresult Doer::operator()(const KernelWork &Kernel) const {
  // The driver copies the arguments and the attributes, and writes to neither.
  CUlaunchConfig Config = Kernel.Config;
  Config.hStream = Stream;
  Config.attrs = const_cast<CUlaunchAttribute *>(Kernel.Attributes.data());
  Config.numAttrs = unsigned(Kernel.Attributes.size());
  if (Kernel.Packed) {
    size_t Bytes = Kernel.Packed->size();
    void *Extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<char *>(Kernel.Packed->data()),
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &Bytes, CU_LAUNCH_PARAM_END};
    return Driver.LaunchKernelEx(&Config, Kernel.Handle, nullptr, Extra);
  }
  std::vector<void *> Parameters;
  for (const std::vector<char> &Value : Kernel.Arguments)
    Parameters.push_back(const_cast<char *>(Value.data()));
  return Driver.LaunchKernelEx(&Config, Kernel.Handle, Parameters.data(), nullptr);
}

/// Returns the address at which one side of a copy begins.
static CUdeviceptr firstByte(CUmemorytype Type, const void *Host, CUdeviceptr Device, size_t X,
                             size_t Row, size_t Pitch) {
  CUdeviceptr Base = Type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(Host) : Device;
  return Base + Row * Pitch + X;
}

CUresult Doer::operator()(CUDA_MEMCPY3D Copy) const {
  if (Copy.WidthInBytes == 0 || Copy.Height == 0 || Copy.Depth == 0)
    return CUDA_SUCCESS;
  // A node that was captured from a copy of one row need not have pitches, or may have larger ones
  // than the driver accepts of a call.
  if (Copy.Height == 1 && Copy.Depth == 1) {
    if (Copy.srcMemoryType != CU_MEMORYTYPE_ARRAY && Copy.dstMemoryType != CU_MEMORYTYPE_ARRAY)
      return Driver.MemcpyAsync(
          firstByte(Copy.dstMemoryType, Copy.dstHost, Copy.dstDevice, Copy.dstXInBytes,
                    Copy.dstZ * Copy.dstHeight + Copy.dstY, Copy.dstPitch),
          firstByte(Copy.srcMemoryType, Copy.srcHost, Copy.srcDevice, Copy.srcXInBytes,
                    Copy.srcZ * Copy.srcHeight + Copy.srcY, Copy.srcPitch),
          Copy.WidthInBytes, Stream);
    Copy.srcPitch = std::max(Copy.srcPitch, Copy.srcXInBytes + Copy.WidthInBytes);
    Copy.dstPitch = std::max(Copy.dstPitch, Copy.dstXInBytes + Copy.WidthInBytes);
  }
  return Driver.Memcpy3DAsync(&Copy, Stream);
}

CUresult Doer::operator()(const CUDA_MEMSET_NODE_PARAMS &Fill) const {
  auto Byte = static_cast<unsigned char>(Fill.value);
  auto Short = static_cast<unsigned short>(Fill.value);
  bool Rows = Fill.height > 1;
  switch (Fill.elementSize) {
  case 1:
    return Rows
               ? Driver.MemsetD2D8Async(Fill.dst, Fill.pitch, Byte, Fill.width, Fill.height, Stream)
               : Driver.MemsetD8Async(Fill.dst, Byte, Fill.width, Stream);
  case 2:
    return Rows ? Driver.MemsetD2D16Async(Fill.dst, Fill.pitch, Short, Fill.width, Fill.height,
                                          Stream)
                : Driver.MemsetD16Async(Fill.dst, Short, Fill.width, Stream);
  default:
    return Rows ? Driver.MemsetD2D32Async(Fill.dst, Fill.pitch, Fill.value, Fill.width, Fill.height,
                                          Stream)
                : Driver.MemsetD32Async(Fill.dst, Fill.value, Fill.width, Stream);
  }
}

CUresult carve::probe::carryOut(const DriverApi &Driver, const NodeWork &Work, CUstream Stream) {
  return std::visit(Doer{Driver, Stream}, Work);
}
