// Stands in for the CUDA runtime where none is installed, so that extensions with CUDA parts load:
// registering device code does nothing, everything else answers "no CUDA-capable device".
#include <cstddef>

namespace {
constexpr int kNoDevice = 100;  // cudaErrorNoDevice
void* no_binary = nullptr;
}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void*) { return &no_binary; }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction() {}
void __cudaRegisterVar() {}
void __cudaRegisterManagedVar() {}
char __cudaInitModule(void**) { return 0; }
unsigned __cudaPushCallConfiguration() { return 1; }  // != 0: the launch is left out

const char* cudaGetErrorName(int) { return "cudaErrorNoDevice"; }
const char* cudaGetErrorString(int) { return "no CUDA-capable device is detected"; }
int cudaGetDeviceCount(int* count) {
  *count = 0;
  return kNoDevice;
}

#define RL_NONE(name) \
  int name() { return kNoDevice; }
RL_NONE(__cudaPopCallConfiguration)
RL_NONE(__cudaGetKernel)
RL_NONE(__cudaLaunchKernel)
RL_NONE(cudaDeviceCanAccessPeer)
RL_NONE(cudaDeviceEnablePeerAccess)
RL_NONE(cudaDeviceGetAttribute)
RL_NONE(cudaDeviceGetPCIBusId)
RL_NONE(cudaDeviceGetStreamPriorityRange)
RL_NONE(cudaDeviceReset)
RL_NONE(cudaDeviceSynchronize)
RL_NONE(cudaDriverGetVersion)
RL_NONE(cudaEventCreate)
RL_NONE(cudaEventCreateWithFlags)
RL_NONE(cudaEventDestroy)
RL_NONE(cudaEventElapsedTime)
RL_NONE(cudaEventQuery)
RL_NONE(cudaEventRecord)
RL_NONE(cudaEventSynchronize)
RL_NONE(cudaFree)
RL_NONE(cudaFreeAsync)
RL_NONE(cudaFreeHost)
RL_NONE(cudaFuncGetAttributes)
RL_NONE(cudaFuncSetAttribute)
RL_NONE(cudaGetDevice)
RL_NONE(cudaGetDeviceProperties)
RL_NONE(cudaGetLastError)
RL_NONE(cudaGraphDestroy)
RL_NONE(cudaGraphExecDestroy)
RL_NONE(cudaGraphInstantiate)
RL_NONE(cudaGraphLaunch)
RL_NONE(cudaHostAlloc)
RL_NONE(cudaHostGetDevicePointer)
RL_NONE(cudaHostRegister)
RL_NONE(cudaHostUnregister)
RL_NONE(cudaLaunchCooperativeKernel)
RL_NONE(cudaLaunchHostFunc)
RL_NONE(cudaLaunchKernel)
RL_NONE(cudaLaunchKernelExC)
RL_NONE(cudaMalloc)
RL_NONE(cudaMallocAsync)
RL_NONE(cudaMallocHost)
RL_NONE(cudaMallocManaged)
RL_NONE(cudaMallocPitch)
RL_NONE(cudaMemGetInfo)
RL_NONE(cudaMemcpy)
RL_NONE(cudaMemcpy2D)
RL_NONE(cudaMemcpy2DAsync)
RL_NONE(cudaMemcpyAsync)
RL_NONE(cudaMemcpyFromSymbol)
RL_NONE(cudaMemcpyPeerAsync)
RL_NONE(cudaMemcpyToSymbol)
RL_NONE(cudaMemcpyToSymbolAsync)
RL_NONE(cudaMemset)
RL_NONE(cudaMemset2DAsync)
RL_NONE(cudaMemsetAsync)
RL_NONE(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
RL_NONE(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
RL_NONE(cudaPeekAtLastError)
RL_NONE(cudaPointerGetAttributes)
RL_NONE(cudaRuntimeGetVersion)
RL_NONE(cudaSetDevice)
RL_NONE(cudaStreamBeginCapture)
RL_NONE(cudaStreamCreate)
RL_NONE(cudaStreamCreateWithFlags)
RL_NONE(cudaStreamCreateWithPriority)
RL_NONE(cudaStreamDestroy)
RL_NONE(cudaStreamEndCapture)
RL_NONE(cudaStreamIsCapturing)
RL_NONE(cudaStreamQuery)
RL_NONE(cudaStreamSynchronize)
RL_NONE(cudaStreamWaitEvent)
RL_NONE(cudaThreadExchangeStreamCaptureMode)

}  // extern "C"
