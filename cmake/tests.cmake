# C++ tests and benchmarks: tests/cpp/*.cpp and bench/*.cpp, one program each, linked to the core.
# `cpp_tests` and `cpp_bench` build them; ctest runs the tests and the checks in tools/.
function(rl_program name source)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE rl_common rl_providers rushlight)
  target_compile_options(${name} PRIVATE -fPIC)  # no copy relocations against the core
  set_target_properties(${name} PROPERTIES BUILD_RPATH ${RL_LIB_DIR}
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  add_dependencies(${name} rl_codegen)
endfunction()

if(RL_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  add_custom_target(cpp_tests)
  file(GLOB test_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cpp/*.cpp)
  foreach(source IN LISTS test_sources)
    get_filename_component(name ${source} NAME_WE)
    rl_program(${name} ${source})
    target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
    add_dependencies(cpp_tests ${name})
    add_test(NAME cpp.${name} COMMAND ${name})
  endforeach()
  # an extension of the stable C ABI, which knows nothing of this project
  add_library(stable_extension MODULE EXCLUDE_FROM_ALL
              ${CMAKE_SOURCE_DIR}/tests/cpp/extension/stable_extension.cpp)
  target_link_libraries(stable_extension PRIVATE rl_standin_libtorch_cpu_so)
  target_link_options(stable_extension PRIVATE -Wl,--no-as-needed)
  add_dependencies(test_stable_abi stable_extension)
  target_compile_definitions(test_stable_abi PRIVATE RL_STANDINS="${RL_STANDIN_DIR}"
    RL_EXTENSION="$<TARGET_FILE:stable_extension>")
  # Sanitizers add static initialisers and tables to every object.
  set(checks layers size)
  if(NOT RL_SANITIZE)
    list(APPEND checks isa)
  endif()
  foreach(check IN LISTS checks)
    add_test(NAME tools.check_${check} COMMAND ${Python_EXECUTABLE}
      ${CMAKE_SOURCE_DIR}/tools/check_${check}.py --build ${CMAKE_BINARY_DIR})
  endforeach()
endif()

if(RL_BENCH)
  add_custom_target(cpp_bench)
  file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.cpp)
  foreach(source IN LISTS bench_sources)
    get_filename_component(name ${source} NAME_WE)
    rl_program(${name} ${source})
    target_compile_options(${name} PRIVATE -O2)
    add_dependencies(cpp_bench ${name})
  endforeach()
endif()
