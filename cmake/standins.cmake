# Small libraries under the names that extensions of the stable C ABI ask the loader for. They hold
# nothing: their one dependency, the core, has the functions (src/abi). torch/_stable_abi_loader.py
# opens them before an extension. libcudart.so.13 stands in where no CUDA runtime is installed.
set(RL_STANDIN_DIR ${RL_LIB_DIR}/standins)
file(MAKE_DIRECTORY ${RL_STANDIN_DIR})

function(rl_standin name source)
  string(REGEX REPLACE "[^a-z0-9]" "_" target rl_standin_${name})
  add_library(${target} SHARED ${source})
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${RL_STANDIN_DIR} NO_SONAME ON
    BUILD_RPATH "$ORIGIN/.." INSTALL_RPATH "$ORIGIN/..")
  target_link_options(${target} PRIVATE -Wl,-soname,${name} ${ARGN})
  install(TARGETS ${target} LIBRARY DESTINATION torch/lib/standins)
endfunction()

foreach(name c10 torch torch_cpu torch_cuda c10_cuda)
  set(source ${CMAKE_SOURCE_DIR}/cmake/standins/${name}.cpp)
  if(NOT EXISTS ${source})
    set(source ${CMAKE_SOURCE_DIR}/cmake/standins/empty.cpp)
  endif()
  rl_standin(lib${name}.so ${source} -Wl,--no-as-needed)
  target_link_libraries(rl_standin_lib${name}_so PRIVATE rushlight)
endforeach()
set(versions ${CMAKE_SOURCE_DIR}/cmake/standins/cudart.map)
rl_standin(libcudart.so.13 ${CMAKE_SOURCE_DIR}/cmake/standins/cudart.cpp
           -Wl,--version-script=${versions})
set_target_properties(rl_standin_libcudart_so_13 PROPERTIES LINK_DEPENDS ${versions})
