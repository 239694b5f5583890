"""Gradients of convolutions as functions of their own."""
import torch
import torch.nn.functional as F


def _input_gradient(function, input_size, weight, grad_output, *args):
    """By autograd: the convolution is linear in its input, whose values do not matter."""
    with torch.enable_grad():
        input = grad_output.new_zeros(tuple(input_size)).requires_grad_()
        output = function(input, weight, None, *args)
    return torch.autograd.grad(output, input, grad_output,
                               create_graph=torch.is_grad_enabled()
                               and (weight.requires_grad or grad_output.requires_grad))[0]


def _weight_gradient(function, input, weight_size, grad_output, *args):
    with torch.enable_grad():
        weight = grad_output.new_zeros(tuple(weight_size)).requires_grad_()
        output = function(input, weight, None, *args)
    return torch.autograd.grad(output, weight, grad_output,
                               create_graph=torch.is_grad_enabled()
                               and (input.requires_grad or grad_output.requires_grad))[0]


def conv1d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of ``conv1d`` with respect to an input of shape `input_size`."""
    return _input_gradient(F.conv1d, input_size, weight, grad_output, stride, padding,
                           dilation, groups)


def conv1d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of ``conv1d`` with respect to a weight of shape `weight_size`."""
    return _weight_gradient(F.conv1d, input, weight_size, grad_output, stride, padding,
                            dilation, groups)


def conv2d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of ``conv2d`` with respect to an input of shape `input_size`."""
    return _input_gradient(F.conv2d, input_size, weight, grad_output, stride, padding, dilation,
                           groups)


def conv2d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of ``conv2d`` with respect to a weight of shape `weight_size`."""
    return _weight_gradient(F.conv2d, input, weight_size, grad_output, stride, padding, dilation,
                            groups)


def conv3d_input(input_size, weight, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of ``conv3d`` with respect to an input of shape `input_size`."""
    return _input_gradient(F.conv3d, input_size, weight, grad_output, stride, padding,
                           dilation, groups)


def conv3d_weight(input, weight_size, grad_output, stride=1, padding=0, dilation=1, groups=1):
    """Gradient of ``conv3d`` with respect to a weight of shape `weight_size`."""
    return _weight_gradient(F.conv3d, input, weight_size, grad_output, stride, padding,
                            dilation, groups)
